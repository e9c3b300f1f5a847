"""Brings shared experts into the fused tensors while a checkpoint is read.

Each tensor is dealt with when it arrives: what comes in full precision is quantized into the routed experts' format,
what is stored in that format already is copied. Both are written straight into this rank's slots.
"""

from collections.abc import Iterable

from torch import Tensor

from fse_core import slots
from fse_core.errors import InputError
from fse_core.loader.fused import FusedLayer
from fse_core.loader.layer import LayerReport, LayerSlots
from fse_core.quantize import Format

__all__ = ["FusedLayer", "LayerReport", "SharedExpertLoader"]


class SharedExpertLoader:
    """Fills the slots of `layers`, whose routed experts are in `format`; None where these are in full precision too.

    `take` each tensor of the checkpoint, in any order; `finish` when there are no more.
    """

    def __init__(self, layers: Iterable[FusedLayer], format: Format | None) -> None:
        self._layers = {layer.shared: LayerSlots(layer, format) for layer in layers}

    def take(self, name: str, tensor: Tensor) -> bool:
        """Deal with a tensor of the checkpoint; False where it is none of these layers' shared experts'.

        InputError, before anything is written, where it does not fit or has come before.
        """
        prefix = name
        while prefix:
            prefix = prefix.rpartition(".")[0]
            layer = self._layers.get(prefix)
            if layer is not None and (shared := slots.parse(name, prefix)):
                layer.take(shared, tensor)
                return True
        return False

    @property
    def complete(self) -> bool:
        """Whether every slot is filled."""
        return not self.missing()

    def missing(self) -> tuple[str, ...]:
        """What has not come yet, as names of the checkpoint."""
        return tuple(name for layer in self._layers.values() for name in layer.missing())

    def report(self) -> tuple[LayerReport, ...]:
        """What was done so far, layer by layer."""
        return tuple(layer.report() for layer in self._layers.values())

    def finish(self) -> tuple[LayerReport, ...]:
        """What was done. InputError, with their names, where tensors are missing."""
        missing = self.missing()
        if missing:
            raise InputError("", f"{len(missing)} tensors are missing in the checkpoint: {', '.join(missing)}")
        return self.report()
