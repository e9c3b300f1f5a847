"""Writes one shard anew: what stays is copied as bytes, what is converted takes its new form."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fse_core.convert import disk
from fse_core.convert.ahead import Ahead
from fse_core.convert.checkpoint import Checkpoint
from fse_core.convert.plan import Shard
from fse_core.convert.safetensors import Tensor

Record = dict[str, Any]
"""What the manifest says about a file."""


def write_shard(
    checkpoint: Checkpoint, shard: Shard, path: Path, progress: disk.Progress, device: str, threads: int
) -> Record:
    """Writes the shard to `path`, and says what it is."""
    made = {tensor.name for one in shard.made for tensor in one.outputs}
    head, header = shard.layout
    errors: dict[str, Record] = {}
    pending: dict[str, bytearray] = {}
    tensors = checkpoint.shards[shard.name].tensors
    with (
        disk.reading(checkpoint.files[shard.name].path, shard.name) as source,
        disk.sink(path, progress, checkpoint.files[shard.name].mode) as file,
        Ahead(checkpoint, shard.made, device, threads) as results,
    ):
        file.write(head)
        for piece in _pieces(tensors, list(header.tensors), made):
            if not isinstance(piece, str):
                disk.copy_range(source, *piece, file, shard.name)
                continue
            if piece not in pending:
                one, result = results.next()
                weight, scale = one.outputs
                pending |= {weight.name: result.payload, scale.name: result.scale}
                errors[weight.name] = {"relative_mse": _short(result.relative_mse), "largest": _short(result.largest)}
            file.write(pending.pop(piece))
        digest = file.close()
    return {"how": "rewritten", "size": file.size, "sha256": digest, "errors": dict(sorted(errors.items()))}


def _short(error: float) -> float:
    """Without the digits that depend on the order in which threads add."""
    return float(f"{error:.5g}")


def _pieces(kept: Mapping[str, Tensor], order: list[str], made: set[str]) -> Iterator[str | tuple[int, int]]:
    """The new file's parts in order: the name of what is made, or a range of the source, as long as may be."""
    start = end = 0
    for name in order:
        if name in made:
            if end > start:
                yield start, end
            start = end = 0
            yield name
            continue
        tensor = kept[name]
        if tensor.start != end:
            if end > start:
                yield start, end
            start = tensor.start
        end = tensor.end
    if end > start:
        yield start, end
