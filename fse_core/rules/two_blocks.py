"""The quantization is described in more than one place, and not alike.

The release takes `quantization_config` of config.json; only where there is none, `hf_quant_config.json`, and only then
the block in the text config (transformers_utils/config.py:951 at 0.33.0). Older ModelOpt wrote the second, newer writes
the first, and re-exports keep what they find: where they differ, the one that counts may be the one that is out of
date. That one of them is not there is no fault.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fse_core.read.model import HF_QUANT_FILE
from fse_core.rules.base import Facts, Hit, Rule

RULE = Rule(id="FSE129", name="two-blocks", severity="warning")

_SHOWN = 3


def check(facts: Facts) -> Iterator[Hit]:
    """One hit for each place beside the one that counts which says something else."""
    model = facts.model
    block = model.quantization
    if block is None:
        return
    aside: list[tuple[str, Any]] = []
    if model.hf_quant_config is not None and block.file != HF_QUANT_FILE:
        aside.append((model.hf_quant_config.path, model.hf_quant_config.raw))
    if model.text is not model.config and not block.in_text:
        aside.append((model.text.at("quantization_config"), model.text.get("quantization_config")))
    for path, other in aside:
        if isinstance(other, Mapping):
            differing = list(_differing(_flat(block.fields.raw), _flat(other)))
            if differing:
                yield _hit(facts, block.fields.path, path, differing)


def _flat(block: Mapping[str, Any]) -> dict[str, Any]:
    """What both dialects of ModelOpt can say, in one; of all others, the block itself."""
    inner = block.get("quantization")
    one = inner if isinstance(inner, Mapping) else block
    algorithm = one.get("quant_algo")
    if not isinstance(algorithm, str):
        return dict(block)
    listed = one.get("exclude_modules", one.get("ignore", []))
    entries = listed if isinstance(listed, list) else []
    return {"quant_algo": algorithm.upper(), "excluded modules": sorted({str(entry) for entry in entries})}


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for key in one:
        if key in other and one[key] != other[key]:
            yield key, one[key], other[key]


def _hit(facts: Facts, path: str, aside: str, differing: list[tuple[str, Any, Any]]) -> Hit:
    said = "; ".join(_words(*one) for one in differing[:_SHOWN])
    return Hit(
        message=f"The quantization is described twice, and not alike: {said}. vLLM {facts.release.version} reads "
        f"{path} and not {aside.rstrip(':')}.",
        consequence="none",
        evidence=(path, aside.rstrip(":")),
    )


def _words(key: str, one: Any, other: Any) -> str:
    if isinstance(one, list) and isinstance(other, list):
        mine, theirs = [e for e in one if e not in other], [e for e in other if e not in one]
        pieces = [f"{len(mine)} of the first alone"] if mine else []
        pieces += [f"{len(theirs)} of the second alone"] if theirs else []
        first = next(iter((*mine, *theirs)), "their order")
        return f"{key} ({', '.join(pieces)}; {first})"
    return f"{key} ({one} and {other})" if isinstance(one, str | int | float) else key
