"""How many bytes the fused slots take on one GPU, from the config's sizes and the routed experts' format."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from fse_core import stages
from fse_core.errors import InputError
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.report import Layer
from fse_core.target import Target
from service.pages.layers import Layers

_MATRICES: Final = 3
_LOADED: Final = ("fused", "risky")
_WIDTHS: Final = ("moe_intermediate_size", "intermediate_size")
"""Where a config states the width of one routed expert; MiniMax-M3 uses the second name."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """`bits` of one weight, and `scale_bits` for each block of `rows` by `columns` weights."""

    name: str
    bits: int
    scale_bits: int = 0
    rows: int = 1
    columns: int = 1

    def bytes_of(self, rows: int, columns: int) -> int:
        """A matrix with its scales."""
        scales = ceil(rows / self.rows) * ceil(columns / self.columns) * self.scale_bits
        return (rows * columns * self.bits + scales) // 8


@dataclass(frozen=True, kw_only=True)
class Slots:
    """What fusion adds: `total` bytes on the GPU that holds most of the `layers`, and how that was reached.

    `draft` are the bytes of the draft's layers, which are there only where the draft is loaded.
    """

    slots: int
    layers: int
    each: int
    total: int
    draft: int
    how: tuple[str, ...]


class Unknown(Exception):
    """Why the bytes cannot be told."""


def fused_slots(layers: Layers, model: Model | None, target: Target) -> Slots | str:
    """What the fused slots take, or why that is not known."""
    if layers.count("breaks"):
        return "Not told: what vLLM would fuse here goes wrong, as the findings say."
    fused = [layer for layer, state in layers.every if state in _LOADED and layer.part == "target"]
    if not fused:
        return "No layer is fused, so fusion adds no slot."
    if model is None:
        return "Not known: the model's config is not at hand to compute it from."
    drafted = sum(layer.slots for layer, state in layers.every if state in _LOADED and layer.part == "draft")
    try:
        return _slots(fused, drafted, model, target)
    except (InputError, Unknown) as error:
        return f"Not known: {error}."


def _slots(fused: list[Layer], drafted: int, model: Model, target: Target) -> Slots:
    hidden, width = model.text.integer("hidden_size", least=1), _width(model.text)
    ranks = 1 if target.ep else target.tp * target.dp * target.pcp
    if width % ranks:
        raise Unknown(f"the width {width:,} of an expert does not divide by {ranks}")
    part, stored = width // ranks, _format(model, fused[0])
    each = 2 * stored.bytes_of(part, hidden) + stored.bytes_of(hidden, part)
    layers, slots = _most_on_one_stage(fused, model, target), fused[0].slots
    return Slots(
        slots=slots,
        layers=layers,
        each=each,
        total=each * slots * layers,
        draft=each * drafted,
        how=tuple(_how(hidden, width, ranks, target, stored)),
    )


def _how(hidden: int, width: int, ranks: int, target: Target, stored: Format) -> Iterator[str]:
    yield f"{_MATRICES} matrices (gate, up, down) of hidden size {hidden:,} by routed width {width:,}"
    if target.ep:
        yield "whole on every GPU, since each keeps its own copy of the shared slots with expert parallelism"
    elif ranks > 1:
        yield f"cut into {ranks} parts, {width // ranks:,} wide on each GPU"
    scales = f", and {stored.scale_bits} bits of scale for each {stored.rows} \N{MULTIPLICATION SIGN} {stored.columns}"
    yield f"{stored.bits} bits a weight ({stored.name}){scales if stored.scale_bits else ''}"


def _width(fields: Fields) -> int:
    for key in _WIDTHS:
        if fields.get(key) is not None:
            return fields.integer(key, least=1)
    raise Unknown("the config does not state the width of a routed expert")


def _most_on_one_stage(fused: list[Layer], model: Model, target: Target) -> int:
    if target.pp == 1:
        return len(fused)
    sizes = stages.partition(model.text.integer("num_hidden_layers"), target)
    held = [stages.stage_of(layer.index, sizes) for layer in fused]
    return max(held.count(stage) for stage in range(target.pp))


def _format(model: Model, layer: Layer) -> Format:
    """The routed experts' format, where the block says it in a way that leaves no doubt."""
    block = model.quantization
    if block is None:
        return Format(name="16-bit floats, as the checkpoint is not quantized", bits=16)
    fields = block.fields
    method = fields.string("quant_method", "").lower()
    if method in ("fp8", "deepseek_v4_fp8"):
        return _fp8(fields, layer)
    if method == "quark":
        return _quark(fields, layer)
    if method == "mxfp8" or "MXFP8" in str(fields.get("quant_algo") or ""):
        return Format(name="MXFP8", bits=8, scale_bits=8, columns=32)
    raise Unknown("the quantization block does not tell the bits of a routed expert's weight plainly")


def _fp8(fields: Fields, layer: Layer) -> Format:
    listed = fields.strings("ignored_layers", []) or fields.strings("modules_to_not_convert", [])
    if any(layer.experts in name for name in listed):
        raise Unknown("some experts are left out of the quantization")
    rows, columns = fields.integers("weight_block_size")
    return Format(name="block FP8", bits=8, scale_bits=32, rows=rows, columns=columns)


def _quark(fields: Fields, layer: Layer) -> Format:
    if any(name.startswith(layer.experts) for name in fields.strings("exclude", [])):
        raise Unknown("some experts are left out of the quantization")
    weight: Mapping[str, Any] = fields.object("global_quant_config").object("weight").raw
    plain = (weight.get("dtype"), weight.get("qscheme"), weight.get("group_size")) == ("fp4", "per_group", 32)
    if not plain or weight.get("scale_format") != "e8m0" or fields.get("layer_quant_config"):
        raise Unknown("Quark's block gives different layers different formats, or one that is not MXFP4")
    return Format(name="MXFP4", bits=4, scale_bits=8, columns=32)


def readable(size: int) -> str:
    """`1.2 GiB`."""
    value = float(size)
    for unit in ("bytes", "KiB", "MiB"):
        if value < 1024:
            return f"{value:,.0f} bytes" if unit == "bytes" else f"{value:,.1f} {unit}"
        value /= 1024
    return f"{value:,.1f} GiB"
