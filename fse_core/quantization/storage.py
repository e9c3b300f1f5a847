"""How a checkpoint stores the weights of its routed and shared experts, as far as its config tells."""

from dataclasses import dataclass
from typing import Literal

Weight = Literal["plain", "byte", "packed", "elsewhere"]
Scales = Literal["none", "tensor", "channel", "group"]


@dataclass(frozen=True, kw_only=True)
class Storage:
    """How the weights of one module lie. `name` is for people.

    weight: 16 bits a number; one byte a number under the same name; several numbers a byte under the same name; or
        under another name.
    scales: what one scale is for; `group` stands for blocks too.
    """

    name: str
    weight: Weight = "plain"
    scales: Scales = "none"


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What the quantization block says about one layer.

    routed: how the release builds the routed experts, whose tensors fused slots are a part of.
    shared: how the shared expert is stored.
    place: the path of the list that tells one from the other, and `entries` what it says.
    heard: whether the release itself takes these entries as they are meant.
    sure: whether what the entries mean is beyond doubt.
    """

    routed: Storage
    shared: Storage
    place: str = ""
    entries: tuple[str, ...] = ()
    heard: bool = True
    sure: bool = True


PLAIN = Storage(name="16-bit numbers")
FP8_TENSOR = Storage(name="FP8 with one scale a tensor", weight="byte", scales="tensor")
FP8_CHANNEL = Storage(name="FP8 with one scale a row", weight="byte", scales="channel")
FP8_BLOCK = Storage(name="FP8 in blocks", weight="byte", scales="group")
MXFP8 = Storage(name="MXFP8", weight="byte", scales="group")
MXFP4 = Storage(name="MXFP4", weight="packed", scales="group")
NVFP4 = Storage(name="NVFP4", weight="packed", scales="group")
INT8 = Storage(name="INT8", weight="byte", scales="channel")
