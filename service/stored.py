"""What headers say of how layers are stored, as data that a page shows: `fse.headers/1`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from fse_core.read.safetensors.collect import Mode
from fse_core.read.safetensors.facts import Headers, Tensor
from fse_core.read.safetensors.kinds import stored_layers
from fse_core.read.safetensors.layer import Expert, LayerTensors
from fse_core.report import PartName, Report

SCHEMA: Final = "fse.headers/1"
_MOST_PROBLEMS: Final = 50


def stored(headers: Headers, mode: Mode, report: Report) -> dict[str, Any]:
    """The files that were read, and the report's layers in groups whose experts are stored alike.

    `complete`: no tensor of the checkpoint is unknown. `mixed`: the routed experts of such a layer are not all alike;
    the one that is told of is as most are.
    """
    return {
        "schema": SCHEMA,
        "headers": mode,
        "complete": headers.complete,
        "files": len(headers.files),
        "tensors": len(headers.tensors),
        "bytes": sum(file.size for file in headers.files.values()),
        "problems": [{"file": one.file, "message": one.message} for one in headers.problems[:_MOST_PROBLEMS]],
        "layers": list(_groups(headers, report)),
    }


def _groups(headers: Headers, report: Report) -> Iterator[dict[str, Any]]:
    found = stored_layers(headers, report.layers)
    groups: dict[object, tuple[PartName, LayerTensors, list[int]]] = {}
    for layer in report.layers:
        tensors = found.get((layer.part, layer.prefix))
        if tensors is not None:
            key = (layer.part, len(tensors.alike) > 1, _signature(tensors.usual or {}), _signature(tensors.shared))
            groups.setdefault(key, (layer.part, tensors, []))[2].append(layer.index)
    for part, tensors, indices in groups.values():
        yield {
            "part": part,
            "indices": indices,
            "mixed": len(tensors.alike) > 1,
            "routed": [_told(tensor) for tensor in _tensors(tensors.usual or {})],
            "shared": [_told(tensor) for tensor in _tensors(tensors.shared)],
        }


def _signature(expert: Expert) -> object:
    return tuple(sorted((kind, projection.signature) for kind, projection in expert.items()))


def _tensors(expert: Expert) -> Iterator[Tensor]:
    for projection in expert.values():
        yield from projection.parts.values()


def _told(tensor: Tensor) -> Mapping[str, Any]:
    return {"name": tensor.name, "dtype": tensor.dtype, "shape": list(tensor.shape), "file": tensor.file}
