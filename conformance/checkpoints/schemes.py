"""How a quantization block says that experts are stored, and the tensors that one projection then has."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.checkpoints.blocks import BLOCKS
from conformance.checkpoints.stores import STORES, Store


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """`format` is the routed experts'. An `online` scheme's shared experts are in full precision."""

    format: str
    block: Mapping[str, Any]
    routed: Store
    shared: Store
    online: bool = False


_QUARK, _FP8_BLOCK, _MXFP8 = (BLOCKS[name] for name in ("quark_mxfp4", "fp8_blocks", "modelopt_mxfp8"))
_PLAIN, _STORED_MXFP4, _STORED_MXFP8, _STORED_FP8 = (STORES[name] for name in ("plain", "mxfp4", "mxfp8", "blocks"))
_SHARED_EXCLUDED = {**_QUARK, "exclude": [*_QUARK["exclude"], "re:.*shared_expert.*"]}

OVERLAY: Mapping[str, Any] = {"targets": {"*shared_expert*": "mxfp4"}}
SCHEMES: Mapping[str, Scheme] = {
    "mxfp4_online": Scheme(format="mxfp4", block=_SHARED_EXCLUDED, routed=_STORED_MXFP4, shared=_PLAIN, online=True),
    "mxfp4": Scheme(format="mxfp4", block=_QUARK, routed=_STORED_MXFP4, shared=_STORED_MXFP4),
    "mxfp8": Scheme(format="mxfp8", block=_MXFP8, routed=_STORED_MXFP8, shared=_STORED_MXFP8),
    "fp8_block": Scheme(format="fp8_block", block=_FP8_BLOCK, routed=_STORED_FP8, shared=_STORED_FP8),
}
CONVERTIBLE: Mapping[str, Scheme] = {
    "mxfp4_bf16": Scheme(format="mxfp4", block=_SHARED_EXCLUDED, routed=_STORED_MXFP4, shared=_PLAIN),
    "mxfp8_bf16": Scheme(
        format="mxfp8",
        block={**_MXFP8, "ignore": [*_MXFP8["ignore"], "*shared_expert*"]},
        routed=_STORED_MXFP8,
        shared=_PLAIN,
    ),
    "fp8_block_bf16": Scheme(
        format="fp8_block",
        block={**_FP8_BLOCK, "modules_to_not_convert": ["lm_head", "re:.*shared_expert.*"]},
        routed=_STORED_FP8,
        shared=_PLAIN,
    ),
}
"""What no release fuses as it is, and `fse convert` brings into the routed experts' format."""
