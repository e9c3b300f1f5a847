"""Which pipeline stage holds which layer. Source: vllm/distributed/utils.py:198 at 0.33.0."""

from bisect import bisect_right
from itertools import accumulate

from fse_core.errors import ReleaseRaises
from fse_core.target import Target

PARTITION = "VLLM_PP_LAYER_PARTITION"


def partition(layers: int, target: Target) -> tuple[int, ...]:
    """The number of layers of each of the target's `pp` stages, the remainder spread over all but the last."""
    text = target.variable(PARTITION)
    if text is None:
        sizes = [layers // target.pp] * target.pp
        for stage in range(2, layers % target.pp + 2):
            sizes[-stage] += 1
        return tuple(sizes)
    try:
        given = tuple(int(size) for size in text.split(","))
    except ValueError:
        raise ReleaseRaises("ValueError", f"Invalid partition string: {text}") from None
    if len(given) != target.pp:
        raise ReleaseRaises("ValueError", f"len(partitions)={len(given)} does not match pp_size={target.pp}.")
    if sum(given) != layers:
        raise ReleaseRaises("ValueError", f"sum(partitions)={sum(given)} does not match num_hidden_layers={layers}.")
    return given


def stage_of(index: int, sizes: tuple[int, ...]) -> int:
    """The stage that holds layer `index`; what lies past the last layer belongs to the last stage."""
    return min(bisect_right(list(accumulate(sizes)), index), len(sizes) - 1)
