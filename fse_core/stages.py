"""Which pipeline stage holds which layer. Source: vllm/distributed/utils.py:198 at 0.33.0."""

from fse_core.errors import InputError
from fse_core.target import Target


def partition(layers: int, target: Target) -> tuple[int, ...]:
    """The number of layers of each of the target's `pp` stages, the remainder spread over all but the last."""
    text = target.variable("VLLM_PP_LAYER_PARTITION")
    if text is None:
        sizes = [layers // target.pp] * target.pp
        for stage in range(2, layers % target.pp + 2):
            sizes[-stage] += 1
        return tuple(sizes)
    try:
        given = tuple(int(size) for size in text.split(","))
    except ValueError:
        given = ()
    if len(given) != target.pp or sum(given) != layers or min(given) < 0:
        raise InputError(
            "VLLM_PP_LAYER_PARTITION", f"expected {target.pp} numbers that add up to {layers} layers, got {text!r}"
        )
    return given


def stage_of(index: int, sizes: tuple[int, ...]) -> int:
    """The stage that holds layer `index`; what lies past the last layer belongs to the last stage."""
    end = 0
    for stage, size in enumerate(sizes):
        end += size
        if index < end:
            return stage
    return len(sizes) - 1
