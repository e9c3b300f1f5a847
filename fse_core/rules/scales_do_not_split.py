"""The loader cannot cut the shared expert's scales into slots.

The loader cuts each of the shared expert's tensors into one piece a slot, along its rows or (for the down projection)
its columns. It looks at the number of dimensions, not at what the tensor is. A scale without dimensions, as FP8 with
one scale a tensor and NVFP4 usually have, ends in an IndexError; one of a single element cannot be cut in two. One
scale a row is cut along the wrong axis where there are several shared experts, and part of the slots' scales is never
written; before 0.20.0, which takes what is smaller than a slot for padded, loading fails.

Whether a scale has no dimension or one of a single element, and whether one scale a row is a list or a column (which
does not fit at all), the config does not say; nor does it say that a shared expert which it does not mention is
quantized. The tensors' headers do.
"""

from collections.abc import Iterator
from functools import partial

from fse_core.loads.ways import way
from fse_core.quantization.storage import NVFP4, Storage, Stored
from fse_core.report import Consequence, Layer
from fse_core.rules import fixes, told
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, where

RULE = Rule(id="FSE114", name="scales-do-not-split", confidence="likely", about_slots=True, counts_unsure=True)

_Trouble = tuple[Storage, Consequence, str]


def check(facts: Facts) -> Iterator[Hit]:
    """Fused layers that are stored alike, in a format whose scales do not split."""
    yield from told.hits(facts, RULE.id)
    for part in facts.parts:
        layers = facts.untold(part, part.fused())
        for slots in dict.fromkeys(layer.slots for layer in layers):
            for trouble, alike in facts.by_stored(part, layers, partial(_trouble, facts, part, slots)).items():
                mine = tuple(layer for layer in alike if layer.slots == slots)
                if trouble is not None and mine:
                    yield _hit(facts, part, trouble, mine)


def _hit(facts: Facts, part: PartFacts, trouble: _Trouble, layers: tuple[Layer, ...]) -> Hit:
    storage, consequence, words = trouble
    slots = layers[0].slots
    block = facts.model.quantization
    return Hit(
        message=f"{where(layers)}: the experts are stored as {storage.name}, with {slots} slot{'s' * (slots > 1)} for "
        f"shared experts. {words}",
        consequence=consequence,
        layers=layers,
        evidence=() if block is None else (block.fields.path,),
        fixes=(fixes.fusion_off(),),
    )


def _trouble(facts: Facts, part: PartFacts, slots: int, stored: Stored | None) -> _Trouble | None:
    if stored is None or stored.routed != stored.shared:
        return None
    storage, own_way = stored.shared, way(part.part.model_class, facts.release)
    if own_way is not None and own_way.cut == "none":
        return None
    if storage == NVFP4 or storage.scales == "tensor":
        if slots > 1:
            words = "Neither a scale without dimensions nor one of a single element can be cut into them."
            return storage, "load_fails", words
        words = "If the scales have no dimension, as exporters usually write them, loading ends in an IndexError."
        return storage, "load_fails", words
    if storage.scales == "channel" and slots > 1 and not _two_dimensional(part):
        if not facts.release.has("slots_take_smaller_tensors"):
            words = "The down projection's scales are cut along the wrong axis, and a piece is smaller than its slot."
            return storage, "load_fails", words
        words = "The down projection's scales are cut along the wrong axis, and part of the slots' is never written."
        return storage, "silent_corruption", words
    return None


def _two_dimensional(part: PartFacts) -> bool:
    """Whether the format writes one scale a row as a column."""
    quantization = part.gate.quantization
    return quantization is not None and quantization.class_name == "CompressedTensorsConfig"
