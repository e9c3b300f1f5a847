"""What our own loading makes of a tiny checkpoint, held against what the release makes of it."""

import ctypes
import functools
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from conformance.checkpoints.families import HIDDEN, ROUTED
from conformance.checkpoints.tiny import Tiny
from conformance.questions import Question
from fse_core.loader import FusedLayer, SharedExpertLoader
from fse_core.quantize import formats
from fse_core.slots import Geometry

TYPES = {"BF16": torch.bfloat16, "F8_E4M3": torch.float8_e4m3fn, "U8": torch.uint8, "F32": torch.float32}
EXPERTS = ".experts.routed_experts"
FILLINGS = (0xA5, 0x5A)
Parameters = Mapping[str, Mapping[str, Any]]
Kind = Literal["agreed", "differs", "release leaves unset"]


@dataclass(frozen=True, kw_only=True)
class Held:
    """One expert parameter, ours against the release's."""

    parameter: str
    kind: Kind
    words: str


def compare(question: Question, loaded: Mapping[str, Parameters]) -> Iterator[Held]:
    """Each parameter of a loading. One that the release leaves unset, beyond a backend's padding, is no truth."""
    own = ours(question, loaded)
    for module, parameters in loaded.items():
        for name, theirs in parameters.items():
            mine = own[module][name]
            kind: Kind = "agreed"
            if theirs["untouched"] > mine["untouched"]:
                kind = "release leaves unset"
            elif theirs["sha256"] != mine["sha256"] or theirs["untouched"] != mine["untouched"]:
                kind = "differs"
            words = f"{theirs['untouched']} bytes left as they were, {mine['untouched']} by ours"
            yield Held(parameter=f"{module}.{name}", kind=kind, words=words)


def ours(question: Question, parameters: Mapping[str, Parameters]) -> dict[str, dict[str, dict[str, Any]]]:
    """Sha256 and bytes left as they were, of parameters of these types and shapes after our own loading."""
    first, second = (filled(question, parameters, filling) for filling in FILLINGS)
    return {
        module: {
            name: {"sha256": hashlib.sha256(raw(one)).hexdigest(), "untouched": _differing(one, second[module][name])}
            for name, one in tensors.items()
        }
        for module, tensors in first.items()
    }


def filled(
    question: Question, parameters: Mapping[str, Parameters], filling: int, *, slots: int | None = None
) -> dict[str, dict[str, Tensor]]:
    """Fused tensors of these types and shapes, every expert of which our loader filled.

    `slots` for shared experts, as many as the checkpoint has unless it says otherwise.
    """
    count = question.tiny.shared if slots is None else slots
    fused = {
        module: {name: _full(description, filling) for name, description in members.items()}
        for module, members in parameters.items()
    }
    layers = (layer for module in fused for layer in _layers(question, module, fused[module], count))
    loader = SharedExpertLoader(layers, formats()[question.tiny.stored.format])
    for name, tensor in tensors(question.tiny).items():
        loader.take(name, tensor)
    loader.finish()
    return fused


def _layers(question: Question, module: str, fused: Mapping[str, Tensor], slots: int) -> Iterator[FusedLayer]:
    """Where the shared experts go, and each routed expert, whose tensors are cut like those of a lone shared one."""
    tiny, block = question.tiny, module.removesuffix(EXPERTS)
    places = [(f"{block}.experts.{expert}", expert, 1) for expert in range(ROUTED)]
    for prefix, start, count in [*places, (f"{block}.{tiny.kind.shared}", ROUTED, slots)]:
        geometry = Geometry(
            hidden=HIDDEN, intermediate=tiny.width, routed=start, shared=count, tp=question.tp, rank=question.rank
        )
        yield FusedLayer(shared=prefix, tensors=fused, geometry=geometry)


@functools.lru_cache(maxsize=2)
def tensors(tiny: Tiny) -> dict[str, Tensor]:
    """A checkpoint's tensors, by their names."""
    made = tiny.tensors()
    return {t.name: torch.frombuffer(bytearray(t.data), dtype=TYPES[t.dtype]).view(t.shape) for t in made}


def raw(tensor: Tensor) -> bytes:
    """A tensor's bytes."""
    flat = tensor.contiguous()
    return ctypes.string_at(flat.data_ptr(), flat.nbytes)


def _full(description: Mapping[str, Any], filling: int) -> Tensor:
    tensor = torch.empty(description["shape"], dtype=getattr(torch, description["dtype"]))
    tensor.view(-1).view(torch.uint8).fill_(filling)
    return tensor


def _differing(one: Tensor, other: Tensor) -> int:
    return int((one.view(-1).view(torch.uint8) != other.view(-1).view(torch.uint8)).sum())
