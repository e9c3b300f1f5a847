"""The variables do not ask for fusion, although they look as if they did.

Most classes need three to be on: `VLLM_ROCM_USE_AITER`, `VLLM_ROCM_USE_AITER_MOE` and
`VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS`. On means `1` or `true` and nothing else: `yes` and `on` are off. What they
are where nobody sets them depends on the release: AITER is off; its MoE is on; fusion was on until 0.11.1 and is off
since. MiniMax-M3 and DeepSeek-V4 look at the last alone, and build fused slots also where AITER does not run them.
"""

from collections.abc import Iterator

from fse_core import request
from fse_core.report import Fix
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, where

RULE = Rule(id="FSE122", name="request-incomplete", severity="warning")

_CHAIN = (request.AITER, request.AITER_MOE, request.FUSION)
_KNOWN = ("0", "1", "false", "true", "")


def check(facts: Facts) -> Iterator[Hit]:
    """What is not understood, else what is lacking, else what is not looked at."""
    part = facts.parts[0] if facts.parts else None
    if part is None or not part.layers:
        return
    odd = {name: text for name in _CHAIN if (text := facts.target.variable(name) or "").lower() not in _KNOWN}
    off = [name for name in _CHAIN[:2] if not facts.target.is_on(name)]
    if odd:
        yield _odd(facts, odd)
    elif off and facts.target.is_on(request.FUSION) and part.part.model_class in facts.release.wired:
        yield from _off(facts, part, off)


def _odd(facts: Facts, odd: dict[str, str]) -> Hit:
    said = " and ".join(f"{name}={text}" for name, text in odd.items())
    return Hit(
        message=f"{said} counts as off: vLLM {facts.release.version} takes only 1 and true for on.",
        consequence="not_fused",
        evidence=tuple(f"{name}={text}" for name, text in odd.items()),
        fixes=(_on(list(odd)),),
    )


def _off(facts: Facts, part: PartFacts, off: list[str]) -> Iterator[Hit]:
    chain = ", ".join(f"{name}={facts.target.variable(name) or '0'}" for name in _CHAIN)
    if part.part.request == "aiter":
        message = f"Fusion is asked for and not to be had without {' and '.join(off)}: in effect {chain}."
        yield Hit(message=message, consequence="not_fused", evidence=(chain,), fixes=(_on(off),))
    elif layers := part.fused():
        yield Hit(
            message=f"{where(layers)}: {part.part.model_class} looks at {request.FUSION} alone and builds fused slots, "
            f"although AITER does not run them ({chain}). Whether the kernels that do take the slots was not measured.",
            consequence="silent_corruption",
            confidence="likely",
            layers=layers,
            evidence=(chain,),
            fixes=(_on(off),),
        )


def _on(names: list[str]) -> Fix:
    summary = f"set {' and '.join(f'{name}=1' for name in names)}"
    return Fix(kind="env", safety="lossless", summary=summary, patch=dict.fromkeys(names, "1"))
