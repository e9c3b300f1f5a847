"""Looks a converted checkpoint over: sums, tensors, and what the releases say of its config."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fse_core.convert import disk, gate
from fse_core.convert.checkpoint import Checkpoint, open_checkpoint
from fse_core.convert.experts import conversions
from fse_core.convert.journal import FOLDER
from fse_core.convert.manifest import read_manifest, sums
from fse_core.convert.plan import MANIFEST, SUMS
from fse_core.convert.shard import Record
from fse_core.errors import InputError
from fse_core.read.getters import shown
from fse_core.read.model import CONFIG_FILE, HF_QUANT_FILE
from fse_core.read.safetensors.facts import INDEX_FILE
from fse_core.read.safetensors.index import WEIGHTS
from fse_core.target import Target

_SUMMED: Final = ("rewritten", "patched", "copied")
_LINKED: Final = "linked"


@dataclass(frozen=True, kw_only=True)
class Verified:
    """What was found: `faults`, each a sentence, how much was looked at, and each release's answer."""

    faults: tuple[str, ...]
    files: int
    summed: int
    tensors: int
    accepted: tuple[gate.Acceptance, ...]

    @property
    def sound(self) -> bool:
        return not self.faults and all(answer.accepts for answer in self.accepted)


def verify(
    folder: str | Path,
    *,
    releases: Sequence[str] | None = None,
    targets: Sequence[Target] | None = None,
    begin: disk.Progress = lambda _: None,
    progress: disk.Progress = lambda _: None,
) -> Verified:
    """Verifies the conversion in `folder`, for the releases whose gate has a branch for its class, or for those named.

    InputError where it is no finished conversion, or no checkpoint any more.
    """
    root = Path(folder)
    manifest = read_manifest(root)
    checkpoint = open_checkpoint(root)
    files, tensors = manifest["files"], manifest["tensors"]
    begin(sum(record["size"] for record in files.values() if "sha256" in record and type(record.get("size")) is int))
    faults = [
        *_unfinished(root),
        *_unlisted(checkpoint, files, tensors),
        *_sums(root, files),
        *(fault for name, record in files.items() for fault in _file(checkpoint, name, record, progress)),
        *(fault for name, record in tensors.items() for fault in _tensor(checkpoint, name, record)),
        *_left(checkpoint),
    ]
    names = gate.branching(str(manifest.get("quantization"))) if releases is None else releases
    if not names:
        raise InputError(MANIFEST, "names no quantization class that a release has a branch for")
    model = gate.with_tensors(checkpoint.model, checkpoint.shards)
    accepted = gate.ask(model, names) if targets is None else gate.ask(model, names, targets)
    return Verified(
        faults=tuple(faults),
        files=len(files),
        summed=sum("sha256" in record for record in files.values()),
        tensors=len(tensors),
        accepted=accepted,
    )


def _unfinished(root: Path) -> Iterator[str]:
    if (root / FOLDER).exists():
        yield f"{FOLDER}: is left of a conversion; run it again to finish it"


def _unlisted(checkpoint: Checkpoint, files: Mapping[str, Record], tensors: Mapping[str, Record]) -> Iterator[str]:
    """What a server reads and the manifest does not speak of."""
    if not tensors:
        yield f"{MANIFEST}: lists no converted tensor"
    for name in checkpoint.files:
        if name not in files and (name.endswith(WEIGHTS) or name in (CONFIG_FILE, HF_QUANT_FILE, INDEX_FILE)):
            yield f"{name}: is not in {MANIFEST}"


def _sums(root: Path, files: Mapping[str, Record]) -> Iterator[str]:
    expected = sums(files)
    try:
        with (root / SUMS).open("rb") as file:
            same = file.read(len(expected) + 1) == expected
    except FileNotFoundError:
        yield f"{SUMS}: is missing"
    except OSError as error:
        yield f"{SUMS}: cannot be read: {error.strerror}"
    else:
        if not same:
            yield f"{SUMS}: holds other sums than {MANIFEST}"


def _file(checkpoint: Checkpoint, name: str, record: Mapping[str, Any], progress: disk.Progress) -> Iterator[str]:
    file = checkpoint.files.get(name)
    if record.get("how") not in (*_SUMMED, _LINKED):
        yield f"{MANIFEST}: {name}: expected how it was written, got {shown(record.get('how'))}"
    if record.get("how") in _SUMMED and not isinstance(record.get("sha256"), str):
        yield f"{MANIFEST}: {name}: has no SHA-256, though it was {record['how']}"
    if file is None:
        yield f"{name}: is missing"
    elif file.size != record.get("size"):
        yield f"{name}: expected {record.get('size')} bytes, got {file.size}"
    elif "sha256" in record and _sum(file.path, name, progress) != record["sha256"]:
        yield f"{name}: its SHA-256 is not the one that was written"


def _sum(path: Path, name: str, progress: disk.Progress) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb", buffering=0) as file:
            while data := file.read(disk.CHUNK):
                digest.update(data)
                progress(len(data))
    except OSError as error:
        raise InputError(name, f"cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def _tensor(checkpoint: Checkpoint, name: str, record: Mapping[str, Any]) -> Iterator[str]:
    """A converted weight and its scale have the type and shape that were recorded."""
    payload, scale = record.get("payload"), record.get("scale")
    if not isinstance(payload, dict) or not isinstance(scale, dict):
        yield f"{MANIFEST}: {name}: expected payload and scale"
        return
    for what, expected in ((name, payload), (str(scale.get("name")), scale)):
        place = checkpoint.places.get(what)
        if place is None:
            yield f"{what}: is missing"
            continue
        tensor = place[1]
        if [tensor.dtype, list(tensor.shape)] != [expected.get("dtype"), expected.get("shape")]:
            yield (
                f"{what}: expected {expected.get('dtype')} {expected.get('shape')}, "
                f"got {tensor.dtype} {list(tensor.shape)}"
            )


def _left(checkpoint: Checkpoint) -> Iterator[str]:
    """Every shared expert beside quantized routed ones is stored as they are."""
    try:
        for one in conversions(checkpoint, gate.names_of(checkpoint.model).slots):
            yield f"{one.shared.weight.name}: is not stored like {one.routed.weight.name}"
    except InputError as error:
        yield str(error)
