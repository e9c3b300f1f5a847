"""DeepSeek-V4-Pro could run its FP8 shared expert beside its MXFP4 routed ones in one launch, and this target does not.

The mode has many conditions, and where one of them fails the release says so at the level `debug` alone: gfx950, tensor
parallelism of 8, neither data, prefill-context nor expert parallelism, no load balancing, `--moe-backend aiter`, and
the model's own shape and format. All that fail are told. That AITER has the kernels, and that no weights are offloaded,
is taken for granted.
"""

from collections.abc import Iterator

from fse_core.families.deepseek_v4_modes import is_heterogeneous_model, unmet
from fse_core.report import Fix
from fse_core.rules.base import Facts, Hit, Rule, where

RULE = Rule(id="FSE124", name="heterogeneous-unmet", severity="info")

_NAMES = {
    "gfx": "the GPU",
    "ep": "expert parallelism",
    "eplb": "load balancing of experts",
    "moe_backend": "--moe-backend",
}
_SOURCE = "models/deepseek_v4/amd/model.py:225 at 0.33.0"


def check(facts: Facts) -> Iterator[Hit]:
    """One hit for the target's layers, where the model is the one that the mode is made for."""
    part = next(iter(facts.parts), None)
    if part is None or part.part.model_class != "DeepseekV4ForCausalLM" or facts.failure is not None:
        return
    wanted = list(unmet(facts.target))
    apart = tuple(layer for layer in part.layers if layer.decision.decision == "separate")
    if not facts.release.has("deepseek_v4_heterogeneous") or not apart or not wanted:
        return
    if is_heterogeneous_model(facts.model):
        said = ", ".join(f"{_NAMES.get(option, option)} is {_shown(is_)}" for option, is_, _ in wanted)
        yield Hit(
            message=f"{where(apart)}: not run beside the routed experts in one launch, for {said}. The release says so "
            "only at the level debug.",
            consequence="not_fused",
            layers=apart,
            evidence=(*(f"{option} is {is_}, has to be {want}" for option, is_, want in wanted), _SOURCE),
            fixes=tuple(_fixes(wanted)),
        )


def _shown(value: str) -> str:
    return {"True": "on", "False": "off"}.get(value, value)


def _fixes(wanted: list[tuple[str, str, object]]) -> Iterator[Fix]:
    """The options alone: another GPU is no option."""
    patch = {f"--{option.replace('_', '-')}": want for option, _, want in wanted if option != "gfx"}
    if patch and len(patch) == len(wanted):
        how = ", ".join(f"{name} {want}" for name, want in patch.items())
        yield Fix(kind="flag", safety="needs-evaluation", summary=f"serve it with {how}", patch=patch)
