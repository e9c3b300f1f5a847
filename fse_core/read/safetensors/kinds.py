"""A report's layers, as a checkpoint may name them."""

from collections.abc import Iterable, Mapping

from fse_core.read.safetensors.facts import Headers
from fse_core.read.safetensors.layer import LayerTensors, layer_tensors
from fse_core.read.safetensors.names import LayerName
from fse_core.read.safetensors.sample import Kinds
from fse_core.report import Layer, PartName


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
    kinds: dict[object, list[LayerName]] = {}
    for layer in listed:
        key = (layer.part, layer.slots, layer.mode, layer.decision)
        kinds.setdefault(key, []).append(names[layer.part, layer.prefix])
    return tuple(tuple(kind) for kind in kinds.values())


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
