"""Tiny checkpoints of the kinds that releases load wrongly, beside those of `conformance.checkpoints`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.checkpoints.families import HIDDEN
from conformance.checkpoints.schemes import Scheme
from conformance.checkpoints.tensors import Tensor
from conformance.checkpoints.tiny import Tiny
from conformance.seeds import changed


@dataclass(frozen=True, kw_only=True)
class Variant(Tiny):
    """A checkpoint with a scheme and config of its own. `scheme` is what it is called.

    changes: to the config, after all else. shared_width: the shared expert's width, where it is not the routed ones'.
    """

    own: Scheme
    changes: Mapping[str, Any] = field(default_factory=dict, hash=False)
    shared_width: int | None = None

    @property
    def stored(self) -> Scheme:
        return self.own

    def config(self) -> dict[str, Any]:
        whole = changed(super().config(), self.changes)
        if self.shared_width is not None:
            whole[self.kind.width_keys[1]] = self.shared_width
        if not self.own.block:
            del whole["quantization_config"]
        return whole

    def _expert(
        self, prefix: str, projections: tuple[str, str, str], store: Callable[..., Iterator[Tensor]], count: int
    ) -> Iterator[Tensor]:
        if self.shared_width is None or not prefix.endswith(self.kind.shared):
            yield from super()._expert(prefix, projections, store, count)
            return
        wide = self.shared_width
        for name, rows, columns in zip(projections, (wide, wide, HIDDEN), (HIDDEN, HIDDEN, wide), strict=True):
            yield from store(f"{prefix}.{name}", rows, columns)
