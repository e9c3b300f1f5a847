"""The tiny checkpoints: four families, routed experts in several formats, shared experts in the same or in bf16.

Each has two MoE layers with eight routed experts, and of its tensors only the experts'.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.checkpoints import schemes, tensors
from conformance.checkpoints.schemes import Scheme
from conformance.checkpoints.tensors import Tensor
from conformance.seeds import changed, seed

HIDDEN, LAYERS, ROUTED = 256, 2, 8


@dataclass(frozen=True, kw_only=True)
class Family:
    """How a family's config and tensors are called.

    root: what stands before the keys of the text model's config. tensors: what stands before `layers` in a name.
    beside: changes to the rest of the config. projections: a routed expert's gate, up and down.
    count_key: where the config says how many shared experts there are, and `several` whether its class loads two.
    """

    seed: str
    config: Mapping[str, Any]
    block: str
    beside: Mapping[str, Any] = field(default_factory=dict)
    root: str = ""
    tensors: str = "model"
    shared: str = "shared_experts"
    projections: tuple[str, str, str] = ("gate_proj", "up_proj", "down_proj")
    count_key: str | None = None
    several: bool = False
    width_keys: tuple[str, ...] = ("moe_intermediate_size",)


_SMALL = {"hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "vocab_size": 128, "intermediate_size": 512}
_DENSE_FIRST = {"first_k_dense_replace": 0, "n_routed_experts": ROUTED, "num_nextn_predict_layers": 0}
FAMILIES: Mapping[str, Family] = {
    "deepseek": Family(
        seed="deepseek_v3",
        config={**_SMALL, **_DENSE_FIRST, "kv_lora_rank": 64, "q_lora_rank": 64},
        block="mlp",
        count_key="n_shared_experts",
        several=True,
    ),
    "glm": Family(
        seed="glm4_moe",
        config={**_SMALL, **_DENSE_FIRST, "head_dim": 64},
        block="mlp",
        count_key="n_shared_experts",
        several=True,
    ),
    "qwen": Family(
        seed="qwen3_5_text",
        config={**_SMALL, "num_experts": ROUTED, "mtp_num_hidden_layers": 0},
        block="mlp",
        shared="shared_expert",
        width_keys=("moe_intermediate_size", "shared_expert_intermediate_size"),
    ),
    "minimax": Family(
        seed="minimax_m3",
        root="text_config.",
        tensors="language_model.model",
        config={
            **_SMALL,
            "num_local_experts": ROUTED,
            "dense_intermediate_size": 512,
            "num_mtp_modules": 0,
            "moe_layer_freq": [1] * LAYERS,
            "sparse_attention_config.sparse_disable_index_value": [1] * LAYERS,
            "sparse_attention_config.sparse_attention_freq": [1] * LAYERS,
        },
        block="block_sparse_moe",
        beside={"vision_config.hidden_size": 512, "vision_config.intermediate_size": 512},
        projections=("w1", "w3", "w2"),
        count_key="n_shared_experts",
        width_keys=("intermediate_size", "shared_intermediate_size"),
    ),
}


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

    def layers(self) -> list[str]:
        """The names of the MoE modules."""
        return [f"{self.kind.tensors}.layers.{index}.{self.kind.block}" for index in range(LAYERS)]

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor, routed experts first."""
        for layer in self.layers():
            for expert in range(ROUTED):
                yield from self._expert(f"{layer}.experts.{expert}", self.kind.projections, self.stored.routed, 1)
            yield from self._shared(f"{layer}.{self.kind.shared}")

    def write(self, folder: Path) -> None:
        """config.json and model.safetensors."""
        (folder / "config.json").write_text(json.dumps(self.config(), indent=1))
        tensors.write(folder / "model.safetensors", self.tensors())

    def _shared(self, prefix: str) -> Iterator[Tensor]:
        split = list(self._expert(prefix, ("gate_proj", "up_proj", "down_proj"), self.stored.shared, self.shared))
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
