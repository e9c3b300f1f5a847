"""Small checkpoints with bf16 shared experts beside quantized routed ones, written by hand."""

import copy
import json
import math
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SIZES = {"BF16": 2, "F16": 2, "F32": 4, "U8": 1, "F8_E4M3": 1, "F8_E8M0": 1}
Tensors = dict[str, tuple[str, tuple[int, ...], bytes]]

_DEEPSEEK = {
    "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "dtype": "bfloat16",
    "intermediate_size": 512, "first_k_dense_replace": 0, "num_attention_heads": 16, "num_key_value_heads": 16,
    "n_shared_experts": 1, "num_experts_per_tok": 2, "n_group": 2, "topk_group": 1, "kv_lora_rank": 64,
    "q_lora_rank": 64, "qk_rope_head_dim": 64, "v_head_dim": 128, "qk_nope_head_dim": 128, "topk_method": "noaux_tc",
    "scoring_func": "sigmoid", "norm_topk_prob": True, "routed_scaling_factor": 2.5, "vocab_size": 128,
    "max_position_embeddings": 8192, "num_nextn_predict_layers": 0, "hidden_act": "silu", "rope_theta": 10000,
}  # fmt: skip
_GLM = {
    "architectures": ["Glm4MoeForCausalLM"], "model_type": "glm4_moe", "dtype": "bfloat16", "intermediate_size": 512,
    "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 64, "num_experts_per_tok": 2,
    "n_shared_experts": 1, "n_group": 1, "topk_group": 1, "first_k_dense_replace": 0, "norm_topk_prob": True,
    "use_qk_norm": True, "attention_bias": True, "vocab_size": 128, "max_position_embeddings": 8192,
    "num_nextn_predict_layers": 0, "routed_scaling_factor": 2.5, "hidden_act": "silu",
}  # fmt: skip
_QWEN = {
    "architectures": ["Qwen3_5MoeForCausalLM"], "model_type": "qwen3_5_moe_text", "dtype": "bfloat16",
    "intermediate_size": 512, "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256,
    "linear_num_key_heads": 16, "linear_num_value_heads": 32, "num_experts_per_tok": 2, "vocab_size": 128,
    "max_position_embeddings": 8192, "mtp_num_hidden_layers": 0,
}  # fmt: skip
_MINIMAX_TEXT = {
    "model_type": "minimax_m3_text", "architectures": ["MiniMaxM3SparseForCausalLM"], "dtype": "bfloat16",
    "dense_intermediate_size": 512, "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 128,
    "rotary_dim": 64, "partial_rotary_factor": 0.5, "hidden_act": "swigluoai", "num_experts_per_tok": 2,
    "n_shared_experts": 1, "scoring_func": "sigmoid", "use_routing_bias": True, "num_mtp_modules": 0,
    "vocab_size": 128, "max_position_embeddings": 8192, "rope_theta": 5000000, "swiglu_alpha": 1.702,
    "swiglu_limit": 7.0, "routed_scaling_factor": 2.0,
    "sparse_attention_config": {
        "use_sparse_attention": True, "sparse_index_dim": 128, "sparse_num_index_heads": 4, "sparse_topk_blocks": 16,
        "sparse_block_size": 128, "sparse_score_type": "max", "sparse_init_block": 0, "sparse_local_block": 1,
    },
}  # fmt: skip
_MINIMAX = {
    "architectures": ["MiniMaxM3SparseForConditionalGeneration"], "model_type": "minimax_m3_vl", "dtype": "bfloat16",
    "vision_config": {
        "hidden_size": 1280, "num_attention_heads": 16, "num_hidden_layers": 2, "intermediate_size": 5120,
        "patch_size": 14, "image_size": 2016, "projection_dim": 1024, "position_embedding_type": "rope",
        "rope_mode": "3d", "rope_theta": 10000.0, "attention_dropout": 0.0, "hidden_act": "gelu",
        "layer_norm_eps": 1e-05, "model_type": "clip_vision_model", "num_channels": 3,
        "img_token_compression_config": {
            "image_token_compression_method": "patch_merge", "spatial_merge_size": 2, "temporal_patch_size": 2,
        },
        "vision_segment_max_frames": 4,
    },
    "img_token_compression_config": {
        "image_token_compression_method": "patch_merge", "spatial_merge_size": 2, "temporal_patch_size": 2,
    },
    "image_token_index": 5, "video_token_index": 6, "projector_hidden_act": "gelu", "projector_hidden_size": 1024,
    "multimodal_projector_bias": True,
}  # fmt: skip
MX = {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"}
SCHEME = {
    "weight": {**MX, "is_dynamic": False},
    "input_tensors": {**MX, "is_dynamic": True},
    "output_tensors": None,
    "bias": None,
}
_CHANNEL = {"dtype": "fp8_e4m3", "qscheme": "per_channel", "symmetric": True}
CHANNEL_SCHEME = {
    "weight": {**_CHANNEL, "ch_axis": 0, "is_dynamic": False},
    "input_tensors": {**_CHANNEL, "ch_axis": 1, "is_dynamic": True},
    "output_tensors": None,
    "bias": None,
}
FAMILIES = ("deepseek", "glm", "qwen", "minimax")
FORMATS = ("mxfp4", "fp8_block", "mxfp8")


@dataclass(frozen=True)
class Tiny:
    """What a small checkpoint is to be."""

    family: str = "deepseek"
    format: str = "mxfp4"
    shared: int = 1
    layers: int = 2
    experts: int = 4
    hidden: int = 128
    width: int = 128
    listed: tuple[str, ...] | None = None
    block: dict[str, Any] = field(default_factory=dict)
    extra: Tensors = field(default_factory=dict)

    @property
    def root(self) -> str:
        return "language_model.model" if self.family == "minimax" else "model"

    def moe(self, layer: int) -> str:
        return f"{self.root}.layers.{layer}.{'block_sparse_moe' if self.family == 'minimax' else 'mlp'}"

    def module(self, layer: int) -> str:
        return f"{self.moe(layer)}.{'shared_expert' if self.family == 'qwen' else 'shared_experts'}"

    @property
    def projections(self) -> list[str]:
        """The names of all shared projections."""
        return [
            f"{self.module(i)}.{leaf}" for i in range(self.layers) for leaf in ("gate_proj", "up_proj", "down_proj")
        ]

    def config(self) -> dict[str, Any]:
        sizes: dict[str, Any] = {"hidden_size": self.hidden, "num_hidden_layers": self.layers}
        if self.family == "minimax":
            text: dict[str, Any] = copy.deepcopy(_MINIMAX_TEXT) | sizes
            text |= {"intermediate_size": self.width, "shared_intermediate_size": self.width}
            text |= {"num_local_experts": self.experts, "n_shared_experts": self.shared}
            text["moe_layer_freq"] = [1] * self.layers
            sparse = text["sparse_attention_config"]
            sparse |= {"sparse_disable_index_value": [1] * self.layers, "sparse_attention_freq": [1] * self.layers}
            config: dict[str, Any] = copy.deepcopy(_MINIMAX) | {"text_config": text}
        else:
            known: dict[str, dict[str, Any]] = {"deepseek": _DEEPSEEK, "glm": _GLM, "qwen": _QWEN}
            config = copy.deepcopy(known[self.family]) | sizes | {"moe_intermediate_size": self.width}
            if self.family == "qwen":
                config |= {"num_experts": self.experts, "shared_expert_intermediate_size": self.width}
            else:
                config |= {"n_routed_experts": self.experts, "n_shared_experts": self.shared}
        config["quantization_config"] = self._block() | self.block
        return config

    def _block(self) -> dict[str, Any]:
        listed = list(self.projections if self.listed is None else self.listed)
        if self.format == "fp8_block":
            block = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
            return block | {"modules_to_not_convert": ["lm_head", *listed]}
        if self.format == "mxfp8":
            return {"quant_method": "modelopt", "quant_algo": "MXFP8", "ignore": ["*self_attn*", *listed, "lm_head"]}
        return {
            "quant_method": "quark",
            "export": {"kv_cache_group": [], "pack_method": "reorder"},
            "exclude": ["re:.*self_attn.*", "re:.*linear_attn.*", *listed, "lm_head"],
            "global_quant_config": copy.deepcopy(CHANNEL_SCHEME if self.format == "fp8_channel" else SCHEME),
            "layer_quant_config": {},
            "layer_type_quant_config": {},
        }

    def tensors(self) -> Iterator[Tensors]:
        """The tensors of each shard."""
        rng = random.Random(f"{self.family} {self.format}")
        for layer in range(self.layers):
            shard: Tensors = {f"{self.moe(layer)}.gate.weight": weight(rng, (self.experts, self.hidden))}
            for expert in range(self.experts):
                for role, leaf in zip(("gate", "up", "down"), self._routed_leaves(), strict=True):
                    name = f"{self.moe(layer)}.experts.{expert}.{leaf}"
                    shard |= stored(rng, name, self.format, self._shape(role, 1))
            for role in ("gate", "up", "down"):
                name = f"{self.module(layer)}.{role}_proj.weight"
                shard[name] = weight(rng, self._shape(role, self.shared))
            if self.family == "qwen":
                shard[f"{self.module(layer)}_gate.weight"] = weight(rng, (1, self.hidden))
            yield shard
        head = "language_model.lm_head" if self.family == "minimax" else "lm_head"
        yield {f"{head}.weight": weight(rng, (128, self.hidden)), **self.extra}

    def _routed_leaves(self) -> tuple[str, str, str]:
        return ("w1", "w3", "w2") if self.family == "minimax" else ("gate_proj", "up_proj", "down_proj")

    def _shape(self, role: str, times: int) -> tuple[int, int]:
        wide = self.width * times
        return (self.hidden, wide) if role == "down" else (wide, self.hidden)

    def write(self, folder: Path) -> Path:
        """Writes the checkpoint, in as many shards as it has layers and one more."""
        folder.mkdir(parents=True, exist_ok=True)
        index: dict[str, str] = {}
        total = 0
        shards = list(self.tensors())
        for number, tensors in enumerate(shards, 1):
            name = f"model-{number:05}-of-{len(shards):05}.safetensors"
            write_shard(folder / name, tensors)
            index |= dict.fromkeys(tensors, name)
            total += sum(len(data) for _, _, data in tensors.values())
        write_json(folder / "config.json", self.config())
        write_json(folder / "model.safetensors.index.json", {"metadata": {"total_size": total}, "weight_map": index})
        (folder / "tokenizer.json").write_text("{}\n")
        (folder / "figures").mkdir(exist_ok=True)
        (folder / "figures" / "one.txt").write_text("drawn\n")
        return folder


def weight(rng: random.Random, shape: tuple[int, ...], dtype: str = "BF16") -> tuple[str, tuple[int, ...], bytes]:
    """Normal numbers in bf16."""
    count = math.prod(shape)
    values = struct.pack(f"<{count}f", *(rng.gauss(0, 0.02) for _ in range(count)))
    return dtype, shape, b"".join(values[i + 2 : i + 4] for i in range(0, len(values), 4))


def stored(rng: random.Random, module: str, format: str, shape: tuple[int, int]) -> Tensors:
    """A quantized weight with its scales, of arbitrary bytes that are numbers."""
    rows, columns = shape
    scale: tuple[str, tuple[int, ...]]
    if format == "mxfp4":
        payload, scale = ("U8", (rows, columns // 2)), ("U8", (rows, columns // 32))
    elif format == "mxfp8":
        payload, scale = ("F8_E4M3", shape), ("U8", (rows, columns // 32))
    elif format == "fp8_channel":
        payload, scale = ("F8_E4M3", shape), ("F32", (rows,))
    else:
        payload, scale = ("F8_E4M3", shape), ("F32", (-(-rows // 128), -(-columns // 128)))
    suffix = "weight_scale_inv" if format == "fp8_block" else "weight_scale"
    scales = rng.randbytes(math.prod(scale[1])) if scale[0] == "U8" else struct.pack("<f", 0.01) * math.prod(scale[1])
    data = bytes(byte & 0x77 for byte in rng.randbytes(math.prod(payload[1])))
    return {f"{module}.weight": (*payload, data), f"{module}.{suffix}": (*scale, scales)}


def write_shard(path: Path, tensors: Tensors) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    place = 0
    for name, (dtype, shape, data) in tensors.items():
        assert len(data) == math.prod(shape) * SIZES[dtype], name
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [place, place + len(data)]}
        place += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(data for _, _, data in tensors.values()))


def read_shard(path: Path) -> Tensors:
    data = path.read_bytes()
    first = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:first])
    header.pop("__metadata__", None)
    return {
        name: (
            entry["dtype"],
            tuple(entry["shape"]),
            data[first + entry["data_offsets"][0] : first + entry["data_offsets"][1]],
        )
        for name, entry in header.items()
    }


def read_all(folder: Path) -> Tensors:
    return {name: tensor for path in sorted(folder.glob("*.safetensors")) for name, tensor in read_shard(path).items()}


def write_json(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below the folder, by its name."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
