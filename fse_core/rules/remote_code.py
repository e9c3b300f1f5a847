"""The config needs code from a repository to be read, from another one or with a release that does not let it.

`auto_map` names Python files beside the config, which run only with `--trust-remote-code`. fse never runs them. Where
an entry names another repository (`org/name--module.Class`), the code comes from there, at whatever revision that is
then, and pinning this model pins nothing of it. From 0.17.0 to 0.19.1 `QuarkConfig` reads the config once more and
forbids such code whatever the flag says (model_executor/layers/quantization/quark/quark.py:69 at 0.18.0): a model whose
type neither the release nor transformers knows by itself does not start.
"""

from collections.abc import Iterator, Mapping

from fse_core import releases
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, Rule

RULE = Rule(id="FSE132", name="remote-code", severity="warning", confidence="likely")

_KNOWN_TYPES = ("deepseek", "glm", "gpt", "kimi", "llama", "mixtral", "qwen")
"""How model types begin that transformers or the release knew then."""


def check(facts: Facts) -> Iterator[Hit]:
    """Code from elsewhere, and code that Quark does not let be used."""
    code = facts.model.config.get("auto_map")
    if not isinstance(code, Mapping):
        return
    entries = {str(key): value for key, value in code.items() if isinstance(value, str)}
    elsewhere = {key: value for key, value in entries.items() if "--" in value}
    if elsewhere:
        key, value = next(iter(elsewhere.items()))
        yield Hit(
            message=f"{len(elsewhere)} of {len(entries)} entries of auto_map take code from another repository, as "
            f"{key} from {value.partition('--')[0]}: this model's revision does not pin it.",
            consequence="none",
            confidence="certain",
            evidence=tuple(f"auto_map.{key}: {value}" for key, value in elsewhere.items()),
        )
    if "AutoConfig" in entries and _forbidden(facts):
        known = releases.known()
        later = known[known.index(facts.release.version) + 1 :]
        cured = next((v for v in later if not releases.load(v).has("quark_forbids_remote_code")), None)
        yield Hit(
            message=f"The config class comes from the repository (auto_map.AutoConfig), and QuarkConfig of vLLM "
            f"{facts.release.version} forbids that, with --trust-remote-code too: unless {facts.model.model_type} is "
            "known by itself, the start fails.",
            consequence="start_fails",
            evidence=(f"auto_map.AutoConfig: {entries['AutoConfig']}",),
            fixes=(fixes.later_release(facts, cured, "reads it as the flag says"),) if cured else (),
        )


def _forbidden(facts: Facts) -> bool:
    block, kind = facts.model.quantization, facts.model.model_type or ""
    quark = block is not None and str(block.fields.get("quant_method")).lower() == "quark"
    return quark and facts.release.has("quark_forbids_remote_code") and not kind.lower().startswith(_KNOWN_TYPES)
