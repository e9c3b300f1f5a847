"""A report's layers, as a checkpoint may name them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fse_core.grouping import words_of_any
from fse_core.read.safetensors.facts import Headers
from fse_core.read.safetensors.layer import LayerTensors, layer_tensors
from fse_core.read.safetensors.names import LayerName, head_of
from fse_core.read.safetensors.sample import Kinds
from fse_core.read.safetensors.sampled import listed, sampled
from fse_core.report import Layer, PartName

Place = tuple[PartName, str]
"""A layer's part and prefix."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """How a layer is stored. Not its `own`: one of its kind was read, and not this one."""

    tensors: LayerTensors
    own: bool = True


def layer_names(layers: Iterable[Layer]) -> Mapping[tuple[PartName, str], LayerName]:
    """The layers' names in the checkpoint, by part and prefix."""
    listed = tuple(layers)
    last = max((layer.index for layer in listed if layer.part == "target"), default=-1)
    first = min((layer.index for layer in listed if layer.part == "draft"), default=0)
    return {(layer.part, layer.prefix): _name(layer, last, first) for layer in listed}


def layer_kinds(layers: Iterable[Layer]) -> Kinds:
    """The same, those that are decided about alike together."""
    listed = tuple(layers)
    names = layer_names(listed)
    return tuple(tuple(names[layer.part, layer.prefix] for layer in kind) for kind in _alike(listed))


def _alike(layers: Iterable[Layer]) -> Iterable[list[Layer]]:
    """Layers of one part with the same answer, whose words may name the layer."""
    kinds: dict[object, list[Layer]] = {}
    for layer in layers:
        key = (layer.part, layer.slots, layer.mode, layer.decision.decision, words_of_any(layer))
        kinds.setdefault(key, []).append(layer)
    return kinds.values()


def shown_layers(headers: Headers, layers: Iterable[Layer]) -> Mapping[Place, Shown]:
    """How the layers are stored, by part and prefix: those that were read, and in a sample those of their kinds."""
    every = tuple(layers)
    stored = stored_layers(headers, every)
    if headers.complete:
        return {place: Shown(tensors=tensors) for place, tensors in stored.items()}
    read = {place: whole for place, tensors in stored.items() if (whole := sampled(headers, tensors)) is not None}
    found: dict[Place, Shown] = {}
    names = layer_names(every)
    for kind in _alike(every):
        places = [(layer.part, layer.prefix) for layer in kind]
        first = next((read[place] for place in places if place in read), None)
        if first is None:
            continue
        for place in places:
            tensors = _as_listed(headers, names[place], read.get(place, first))
            found[place] = Shown(tensors=tensors, own=place in read)
    return found


def _as_listed(headers: Headers, name: LayerName, sample: LayerTensors) -> LayerTensors:
    """The layer by the index, else the sample that stands for it."""
    head = head_of(name, headers.listed_by_head)
    return sample if head is None else listed(headers, head, sample) or sample


def stored_layers(headers: Headers, layers: Iterable[Layer]) -> Mapping[tuple[PartName, str], LayerTensors]:
    """How the layers are stored, by part and prefix, as far as the headers say."""
    found = ((place, layer_tensors(headers, name)) for place, name in layer_names(layers).items())
    return {place: tensors for place, tensors in found if tensors is not None}


def _name(layer: Layer, last: int, first: int) -> LayerName:
    if layer.part == "target":
        return LayerName(number=layer.index)
    drafts = dict.fromkeys((layer.index, layer.index - first))
    # A draft's number that a layer of the target has is one in a room of its own.
    return LayerName(number=layer.index if layer.index > last else None, drafts=tuple(drafts))
