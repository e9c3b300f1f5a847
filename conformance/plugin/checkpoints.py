"""Tiny checkpoints of the kinds that releases load wrongly, beside those of `conformance.checkpoints`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.checkpoints import schemes, tensors
from conformance.checkpoints.schemes import Scheme, Store
from conformance.checkpoints.tensors import Tensor
from conformance.checkpoints.tiny import FAMILIES, HIDDEN, LAYERS, ROUTED, Family, Tiny
from conformance.seeds import changed

_SMALL = {"hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "vocab_size": 128, "intermediate_size": 512}
_DENSE_FIRST = {"first_k_dense_replace": 0, "n_routed_experts": ROUTED, "num_nextn_predict_layers": 0}
_QWEN = {**_SMALL, "num_experts": ROUTED}
_LATENT = {"kv_lora_rank": 64, "q_lora_rank": 64}

MORE: Mapping[str, Family] = {
    "deepseek_v32": Family(
        seed="deepseek_v32",
        config={**_SMALL, **_DENSE_FIRST, **_LATENT},
        block="mlp",
        count_key="n_shared_experts",
    ),
    "glm_lite": Family(
        seed="glm4_moe_lite",
        config={**_SMALL, **_DENSE_FIRST, **_LATENT},
        block="mlp",
        count_key="n_shared_experts",
    ),
    "qwen_next": Family(
        seed="qwen3_next",
        config=_QWEN,
        block="mlp",
        shared="shared_expert",
        width_keys=("moe_intermediate_size", "shared_expert_intermediate_size"),
    ),
    "qwen_vl": Family(
        seed="qwen3_5",
        root="text_config.",
        tensors="model.language_model",
        config={**_QWEN, "mtp_num_hidden_layers": 0},
        block="mlp",
        beside={"vision_config.hidden_size": 512, "vision_config.intermediate_size": 512},
        shared="shared_expert",
        width_keys=("moe_intermediate_size", "shared_expert_intermediate_size"),
    ),
    "deepseek_v4": Family(
        seed="deepseek_v4",
        config={
            **{key: value for key, value in _SMALL.items() if key != "intermediate_size"},
            "n_routed_experts": ROUTED,
            "num_nextn_predict_layers": 0,
            "num_hash_layers": 0,
            "compress_ratios": [0] * LAYERS,
            "q_lora_rank": 64,
            "o_lora_rank": 64,
            "hc_eps": 1e-6,
            "hc_sinkhorn_iters": 20,
            "rms_norm_eps": 1e-6,
            "scale_fmt": "ue8m0",
        },
        block="ffn",
        tensors="",
        projections=("w1", "w3", "w2"),
        count_key="n_shared_experts",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Variant(Tiny):
    """A checkpoint with a scheme and config of its own. `scheme` is what it is called.

    changes: to the config, after all else. beside: the shared expert's width, where it is not the routed ones'.
    """

    own: Scheme
    changes: Mapping[str, Any] = field(default_factory=dict, hash=False)
    shared_width: int | None = None

    @property
    def kind(self) -> Family:
        return FAMILIES.get(self.family) or MORE[self.family]

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

    def layers(self) -> list[str]:
        start = f"{self.kind.tensors}." if self.kind.tensors else ""
        return [f"{start}layers.{index}.{self.kind.block}" for index in range(LAYERS)]

    def _shared(self, prefix: str) -> Iterator[Tensor]:
        """DeepSeek-V4 calls the shared expert's projections like the routed ones'."""
        names = self.kind.projections if self.family == "deepseek_v4" else ("gate_proj", "up_proj", "down_proj")
        yield from self._expert(prefix, names, self.stored.shared, self.shared)

    def _expert(
        self, prefix: str, projections: tuple[str, str, str], store: Callable[..., Iterator[Tensor]], count: int
    ) -> Iterator[Tensor]:
        if self.shared_width is None or not prefix.endswith(self.kind.shared):
            yield from super()._expert(prefix, projections, store, count)
            return
        wide = self.shared_width
        for name, rows, columns in zip(projections, (wide, wide, HIDDEN), (HIDDEN, HIDDEN, wide), strict=True):
            yield from store(f"{prefix}.{name}", rows, columns)


def store(
    weight: Callable[..., Tensor],
    scale: Callable[..., Tensor] | None = None,
    *,
    suffix: str = "weight_scale",
    shape: Callable[[int, int], tuple[int, ...]] = lambda _rows, _columns: (),
) -> Store:
    """One projection: its weights, and its scales of this shape."""

    def stored(name: str, rows: int, columns: int) -> Iterator[Tensor]:
        yield weight(f"{name}.weight", rows, columns)
        if scale is not None:
            yield scale(f"{name}.{suffix}", *shape(rows, columns))

    return stored


PLAIN = store(tensors.weights)
FP8_TENSOR = store(tensors.codes, tensors.scales)
FP8_TENSOR_OF_ONE = store(tensors.codes, tensors.scales, shape=lambda _rows, _columns: (1,))
FP8_CHANNEL = store(tensors.codes, tensors.scales, shape=lambda rows, _columns: (rows,))
FP8_COLUMN = store(tensors.codes, tensors.scales, shape=lambda rows, _columns: (rows, 1))


def _v4_fp4(name: str, rows: int, columns: int) -> Iterator[Tensor]:
    yield tensors.nibbles(f"{name}.weight", rows, columns // 2)
    yield tensors.exponents(f"{name}.scale", rows, columns // 32)


V4_FP4: Store = _v4_fp4
V4_FP8 = store(tensors.codes, tensors.exponents, suffix="scale", shape=lambda rows, cols: (rows // 128, cols // 128))
FP8_BLOCK = schemes.SCHEMES["fp8_block"].routed
MXFP4 = schemes.SCHEMES["mxfp4"].routed
MXFP8 = schemes.SCHEMES["mxfp8"].routed
QUARK = dict(schemes.SCHEMES["mxfp4"].block)
FP8 = dict(schemes.SCHEMES["fp8_block"].block)
MODELOPT_MXFP8 = dict(schemes.SCHEMES["mxfp8"].block)
