"""The families of the tiny checkpoints: how each calls what is in its config and its tensors."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

HIDDEN, LAYERS, ROUTED = 256, 2, 8
LONG, SHORT = ("gate_proj", "up_proj", "down_proj"), ("w1", "w3", "w2")


@dataclass(frozen=True, kw_only=True)
class Family:
    """How a family's config and tensors are called.

    root: what stands before the keys of the text model's config. tensors: what stands before `layers` in a name.
    beside: changes to the rest of the config. projections: a routed expert's gate, up and down; shared_projections: a
    shared one's.
    count_key: where the config says how many shared experts there are, and `several` whether its class loads two.
    draft: the name of a draft's MoE module, and draft_key: where the config says how many such layers there are.
    """

    seed: str
    config: Mapping[str, Any]
    block: str
    beside: Mapping[str, Any] = field(default_factory=dict)
    root: str = ""
    tensors: str = "model"
    shared: str = "shared_experts"
    projections: tuple[str, str, str] = LONG
    shared_projections: tuple[str, str, str] = LONG
    count_key: str | None = None
    several: bool = False
    width_keys: tuple[str, ...] = ("moe_intermediate_size",)
    draft: str | None = None
    draft_key: str = "num_nextn_predict_layers"

    def layers(self) -> list[str]:
        """The names of the MoE modules."""
        start = f"{self.tensors}." if self.tensors else ""
        return [f"{start}layers.{index}.{self.block}" for index in range(LAYERS)]


_SMALL = {"hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "vocab_size": 128, "intermediate_size": 512}
_DENSE_FIRST = {"first_k_dense_replace": 0, "n_routed_experts": ROUTED, "num_nextn_predict_layers": 0}
_NEXT = f"model.layers.{LAYERS}.mlp"
COMPARED: Mapping[str, Family] = {
    "deepseek": Family(
        seed="deepseek_v3",
        config={**_SMALL, **_DENSE_FIRST, "kv_lora_rank": 64, "q_lora_rank": 64},
        block="mlp",
        count_key="n_shared_experts",
        several=True,
        draft=_NEXT,
    ),
    "glm": Family(
        seed="glm4_moe",
        config={**_SMALL, **_DENSE_FIRST, "head_dim": 64},
        block="mlp",
        count_key="n_shared_experts",
        several=True,
        draft=_NEXT,
    ),
    "qwen": Family(
        seed="qwen3_5_text",
        config={**_SMALL, "num_experts": ROUTED, "mtp_num_hidden_layers": 0},
        block="mlp",
        shared="shared_expert",
        width_keys=("moe_intermediate_size", "shared_expert_intermediate_size"),
        draft="mtp.layers.0.mlp",
        draft_key="mtp_num_hidden_layers",
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
        projections=SHORT,
        count_key="n_shared_experts",
        width_keys=("intermediate_size", "shared_intermediate_size"),
        draft="language_model.model.mtp.layers.0.transformer_layer.block_sparse_moe",
        draft_key="num_mtp_modules",
    ),
}
"""Those whose loading is compared byte for byte."""

FAMILIES: Mapping[str, Family] = {
    **COMPARED,
    "axk1": replace(COMPARED["deepseek"], seed="axk1", draft=None),
    "deepseek_v32": replace(COMPARED["deepseek"], seed="deepseek_v32"),
    "glm_lite": replace(COMPARED["deepseek"], seed="glm4_moe_lite"),
    "qwen3_next": replace(COMPARED["qwen"], seed="qwen3_next", draft_key="num_nextn_predict_layers"),
    "qwen_vl": replace(
        COMPARED["qwen"],
        seed="qwen3_5",
        root="text_config.",
        tensors="model.language_model",
        beside={"vision_config.hidden_size": 512, "vision_config.intermediate_size": 512},
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
        projections=SHORT,
        shared_projections=SHORT,
        count_key="n_shared_experts",
    ),
}
