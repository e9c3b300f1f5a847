"""The way in which the model is spread over GPUs does not go together with fusion.

MoRI's all-to-all demands that fusion is not even asked for: the start ends in an AssertionError, also where no layer
would fuse. DeepSeek-V4 refuses fusion together with data parallelism, unless experts are split. Both are told by the
release itself.

Load balancing of experts (EPLB) and dual-batch overlap count experts without the slots that fusion adds, and no release
guards against that. With redundant experts the two sides number slots differently (read in
`model_executor/layers/fused_moe/routed_experts.py:46` and `layer.py:82` at 0.33.0); what comes of it was not measured.
An evaluation with and without fusion on the same GPUs settles it.
"""

from collections.abc import Iterator

from fse_core.report import Layer
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, Rule, where
from fse_core.rules.failing import raised

RULE = Rule(id="FSE110", name="parallel-conflict")

_V4 = "DeepSeek-V4 fused shared experts"


def check(facts: Facts) -> Iterator[Hit]:
    """What ends the start, else what is not guarded."""
    for one in raised(facts):
        if "mori" in facts.release.words and one.failure.message == facts.release.say("mori"):
            yield _refused(facts, f"all2all backend {facts.target.all2all_backend}", _fused_of(facts))
            return
        if one.says(_V4):
            yield _refused(facts, f"dp {facts.target.dp} without expert parallelism", ())
            return
    switches = [name for name, on in (("EPLB", facts.target.eplb and facts.target.ep), ("DBO", facts.target.dbo)) if on]
    if not switches or facts.failure is not None:
        return
    for part in facts.parts:
        layers = tuple(layer for layer in part.fused() if layer.mode == "aiter")
        if layers:
            yield _unguarded(facts, " and ".join(switches), layers)


def _fused_of(facts: Facts) -> tuple[Layer, ...]:
    return tuple(layer for part in facts.parts[:1] for layer in part.fused())


def _refused(facts: Facts, what: str, fused: tuple[Layer, ...]) -> Hit:
    anyway = "" if fused else " It looks at the request alone, whatever the layers do."
    failure = next(raised(facts)).failure
    return Hit(
        message=f"vLLM {facts.release.version} refuses a request for fusion with {what} and does not start.{anyway}",
        consequence="start_fails",
        evidence=(f"{failure.type}: {failure.message}",),
        fixes=(fixes.fusion_off(),),
    )


def _unguarded(facts: Facts, what: str, layers: tuple[Layer, ...]) -> Hit:
    return Hit(
        message=f"{where(layers)}: {what} counts experts without the {layers[0].slots} that fusion adds on every GPU, "
        f"and vLLM {facts.release.version} does not guard against that. Wrong answers or a failure are likely.",
        consequence="silent_corruption",
        severity="warning",
        confidence="likely",
        layers=layers,
        evidence=("reported in vllm-project/vllm#47220",),
        fixes=(fixes.fusion_off(),),
    )
