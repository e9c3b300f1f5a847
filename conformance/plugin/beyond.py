"""What the plugin adds to what stock releases can: formats, readers and kinds of checkpoints, and what it refuses."""

from typing import Any

from conformance.checkpoints.blocks import BLOCKS
from conformance.checkpoints.schemes import OVERLAY
from conformance.checkpoints.stores import PACKED, STORES, V4_FP4, V4_FP8
from conformance.plugin.rows import FP8, FP8_BLOCK, ONLINE, PLAIN, V4, Row, fp8, projections, quark, variant


def _groups(weights: dict[str, Any], inputs: dict[str, Any]) -> dict[str, Any]:
    """A compressed-tensors block with one scheme for all that is linear."""
    base: dict[str, Any] = {"num_bits": 8, "type": "float", "symmetric": True}
    group = {
        "targets": ["Linear"],
        "weights": base | {"dynamic": False} | weights,
        "input_activations": base | {"dynamic": True} | inputs,
    }
    return {
        "quant_method": "compressed-tensors",
        "format": "float-quantized",
        "quantization_status": "compressed",
        "config_groups": {"group_0": group},
        "ignore": ["re:.*self_attn.*", "lm_head"],
    }


_CT_BLOCK = _groups({"strategy": "block", "block_structure": [128, 128]}, {"strategy": "group", "group_size": 128})
_CT_CHANNEL = _groups({"strategy": "channel"}, {"strategy": "token"})
_BLOCK_SCALES = STORES["blocks_other_name"]
_BOTH_OUT = ["model.layers.0.mlp.experts", "model.layers.1.mlp.experts", *projections()]
_AUTO_ROUND = {
    "quant_method": "auto-round",
    "bits": 4,
    "group_size": 32,
    "sym": True,
    "data_type": "mx_fp",
    "act_bits": 4,
    "act_data_type": "mx_fp_rceil",
    "act_group_size": 32,
    "act_sym": True,
    "act_dynamic": True,
    "packing_format": "auto_round:llm_compressor",
    "extra_config": {
        ".*self_attn.*": {"bits": 16, "data_type": "float"},
        ".*shared_experts.*": {"bits": 16, "data_type": "float"},
    },
}


BEYOND: tuple[Row, ...] = (
    Row(
        id="online-fp8-block",
        title="routed FP8 in blocks, shared expert in 16 bits, with `FSE_ONLINE_SHARED_EXPERTS=fp8_block`",
        checkpoint=fp8("fp8-listed", projections()),
        environment={"FSE_ONLINE_SHARED_EXPERTS": "fp8_block"},
    ),
    Row(
        id="online-mxfp8",
        title="routed MXFP8 (ModelOpt), shared expert in 16 bits, with `FSE_ONLINE_SHARED_EXPERTS=mxfp8`",
        checkpoint=variant(
            "mxfp8-plain",
            {**BLOCKS["modelopt_mxfp8"], "ignore": [*BLOCKS["modelopt_mxfp8"]["ignore"], "*shared_experts*"]},
            STORES["mxfp8"],
            PLAIN,
        ),
        since="0.25.0",
        environment={"FSE_ONLINE_SHARED_EXPERTS": "mxfp8"},
    ),
    Row(
        id="online-auto-round",
        title="routed MXFP4 by auto-round (INC), shared expert in 16 bits, with `FSE_ONLINE_SHARED_EXPERTS=mxfp4`",
        checkpoint=variant("auto-round", _AUTO_ROUND, PACKED, PLAIN),
        since="0.28.0",
        environment=ONLINE,
    ),
    Row(
        id="online-deepseek-v4",
        title="DeepSeek-V4 by Quark, shared expert in 16 bits, with `FSE_ONLINE_SHARED_EXPERTS=mxfp4`",
        checkpoint=quark("quark-pattern", ["re:.*shared_expert.*", "re:.*attn.*"], family="deepseek_v4"),
        since="0.31.0",
        environment=ONLINE,
    ),
    Row(
        id="targets-deepseek-v4",
        title="the same, with a target for the shared experts",
        checkpoint=quark("quark-pattern", ["re:.*shared_expert.*", "re:.*attn.*"], family="deepseek_v4"),
        since="0.32.0",
        options={"overlay": dict(OVERLAY)},
    ),
    Row(
        id="accept-lossy",
        title="DeepSeek-V4 as published, its FP8 shared expert requantized to MXFP4 by `FSE_ACCEPT=lossy`",
        checkpoint=variant("published", V4, V4_FP4, V4_FP8, family="deepseek_v4"),
        since="0.31.0",
        environment={"FSE_ACCEPT": "lossy"},
    ),
    Row(
        id="accept-ct-block",
        title="compressed-tensors FP8 in blocks, `FSE_ACCEPT=compressed-tensors`",
        checkpoint=variant("ct-block", _CT_BLOCK, _BLOCK_SCALES, _BLOCK_SCALES),
        since="0.29.0",
        environment={"FSE_ACCEPT": "compressed-tensors"},
    ),
    Row(
        id="accept-ct-channel",
        title="compressed-tensors FP8 with one scale a row, `FSE_ACCEPT=compressed-tensors`",
        checkpoint=variant("ct-channel", _CT_CHANNEL, STORES["row_column"], STORES["row_column"]),
        since="0.29.0",
        environment={"FSE_ACCEPT": "compressed-tensors"},
    ),
    Row(
        id="accept-quark-excluded",
        title="Quark, routed and shared experts both left out, `FSE_ACCEPT=quark-excluded`",
        checkpoint=quark("both-excluded", _BOTH_OUT, PLAIN, PLAIN),
        since="0.29.0",
        environment={"FSE_ACCEPT": "quark-excluded"},
    ),
    Row(
        id="refuse-eplb",
        title="expert parallelism with EPLB, which moves experts by numbers that the slots have too",
        checkpoint=variant("alike-fp8", FP8, FP8_BLOCK, FP8_BLOCK),
        options={"tp": 2, "ep": True, "eplb": True},
    ),
    Row(
        id="refuse-targets-fp8",
        title="a target of MXFP4 for a shared expert that is stored as FP8 in blocks",
        checkpoint=quark("quark-pattern-fp8", ["re:.*shared_expert.*"], FP8_BLOCK),
        since="0.32.0",
        options={"overlay": dict(OVERLAY)},
    ),
    Row(
        id="refuse-triton",
        title="the Triton experts of releases before 0.29.0, which drop what is sent to a slot",
        checkpoint=variant("plain", {}, PLAIN, PLAIN),
        last="0.28.0",
        options={"moe_backend": "triton"},
    ),
    Row(
        id="expert-parallel",
        title="sound: FP8 in blocks under expert parallelism",
        checkpoint=variant("alike-fp8", FP8, FP8_BLOCK, FP8_BLOCK),
        options={"tp": 2, "ep": True},
    ),
    Row(
        id="expert-parallel-online",
        title="Quark MXFP4, shared expert in 16 bits, under expert parallelism, quantized while loading",
        checkpoint=quark("quark-pattern", ["re:.*shared_expert.*"]),
        options={"tp": 2, "ep": True},
        environment=ONLINE,
    ),
)
