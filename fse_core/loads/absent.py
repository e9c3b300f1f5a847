"""A draft's layer of which nothing is stored."""

from collections import Counter

from fse_core.loads.faults import Fault, Left
from fse_core.loads.layer import Built, Loading, loading
from fse_core.loads.sizes import Sizes
from fse_core.loads.ways import Way
from fse_core.read.safetensors.layer import LayerTensors


def absent(built: Built, sizes: Sizes, way: Way, *, tracked: bool, complete: bool) -> Loading | None:
    """What comes of that: an exception of the class, or one of the release's loader where that has `tracked` what was
    loaded, or all that the layer's experts have is left. None where it cannot be told. `complete`: all was read.

    Source: model_executor/model_loader/default_loader.py:525 at 0.33.0; it tracks what is not quantized.
    """
    error = way.absent or ("ValueError" if tracked else None)
    lacking = None if error else loading(LayerTensors(head="", routed={}, shared={}), built, sizes, way)
    if error is None and lacking is None:
        return None
    left: Counter[tuple[str, int]] = Counter()
    for fault in () if lacking is None else lacking.faults:
        left.update({(one.parameter, one.of): one.bytes for one in fault.left})
    lefts = tuple(Left(parameter=name, bytes=bytes_, of=of) for (name, of), bytes_ in left.items())
    fault = Fault(
        side="routed",
        cause="absent",
        error=error,
        kind="gate",
        leaf="weight",
        stored="",
        made="",
        left=lefts,
        sure=complete,
    )
    return Loading(faults=(fault,))
