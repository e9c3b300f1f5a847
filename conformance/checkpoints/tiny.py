"""The tiny checkpoints: routed experts in several formats, shared experts in the same or in bf16.

Each has two MoE layers with eight routed experts, and of its tensors only the experts'.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.checkpoints import schemes, tensors
from conformance.checkpoints.families import FAMILIES, HIDDEN, ROUTED, Family
from conformance.checkpoints.schemes import Scheme
from conformance.checkpoints.tensors import Tensor
from conformance.seeds import changed, seed


@dataclass(frozen=True, kw_only=True)
class Tiny:
    """One checkpoint. `width` is that of one expert; `packed` stacks the shared experts' gate and up projections."""

    family: str
    scheme: str
    width: int
    shared: int = 1
    packed: bool = False

    @property
    def name(self) -> str:
        return f"{self.family}-{self.scheme}-{self.width}x{self.shared}{'-packed' * self.packed}"

    @property
    def kind(self) -> Family:
        return FAMILIES[self.family]

    @property
    def stored(self) -> Scheme:
        return {**schemes.SCHEMES, **schemes.CONVERTIBLE}[self.scheme]

    @property
    def overlay(self) -> Mapping[str, Any] | None:
        """What --quantization-config holds when this is served."""
        return schemes.OVERLAY if self.stored.online else None

    def config(self) -> dict[str, Any]:
        sizes = dict.fromkeys(self.kind.width_keys, self.width)
        count = {self.kind.count_key: self.shared} if self.kind.count_key else {}
        changes = {self.kind.root + key: value for key, value in {**self.kind.config, **sizes, **count}.items()}
        whole = changed(seed(self.kind.seed), changes | dict(self.kind.beside))
        return whole | {"quantization_config": self.stored.block}

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor, routed experts first."""
        for layer in self.kind.layers():
            for expert in range(ROUTED):
                yield from self._expert(f"{layer}.experts.{expert}", self.kind.projections, self.stored.routed, 1)
            yield from self._shared(f"{layer}.{self.kind.shared}")

    def write(self, folder: Path) -> None:
        """config.json and model.safetensors."""
        (folder / "config.json").write_text(json.dumps(self.config(), indent=1))
        tensors.write(folder / "model.safetensors", self.tensors())

    def _shared(self, prefix: str) -> Iterator[Tensor]:
        split = list(self._expert(prefix, self.kind.shared_projections, self.stored.shared, self.shared))
        if not self.packed:
            yield from split
            return
        for gate in (tensor for tensor in split if ".gate_proj." in tensor.name):
            up = next(tensor for tensor in split if tensor.name == gate.name.replace("gate_proj", "up_proj"))
            yield tensors.stacked(gate.name.replace("gate_proj", "gate_up_proj"), (gate, up))
        yield from (tensor for tensor in split if ".down_proj." in tensor.name)

    def _expert(
        self, prefix: str, projections: tuple[str, str, str], store: Callable[..., Iterator[Tensor]], count: int
    ) -> Iterator[Tensor]:
        gate, up, down = projections
        wide = self.width * count
        for projection, rows, columns in ((gate, wide, HIDDEN), (up, wide, HIDDEN), (down, HIDDEN, wide)):
            yield from store(f"{prefix}.{projection}", rows, columns)
