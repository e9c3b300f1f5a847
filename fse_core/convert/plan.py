"""What a conversion will do, before anything is written: which shards change and how, and what becomes of each file."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from fse_core.convert import gate
from fse_core.convert.block import patched
from fse_core.convert.checkpoint import JOURNAL, Checkpoint, open_checkpoint
from fse_core.convert.dialects import DIALECTS, Dialect, Modules
from fse_core.convert.experts import Conversion, check_loss, conversions
from fse_core.convert.index import new_index
from fse_core.convert.safetensors import Header, Tensor, placed
from fse_core.errors import InputError
from fse_core.read.model import CONFIG_FILE, HF_QUANT_FILE
from fse_core.read.safetensors.facts import INDEX_FILE
from fse_core.read.safetensors.index import WEIGHTS
from fse_core.read.source import model_from_bytes
from fse_core.version import __version__

MANIFEST: Final = "fse-convert.json"
SUMS: Final = "SHA256SUMS"
_FULL: Final = frozenset({"BF16", "F16", "F32"})


@dataclass(frozen=True, kw_only=True)
class Shard:
    """A shard to be written anew: the tensors that stay, by their place in the source, and those that are made."""

    name: str
    kept: tuple[Tensor, ...]
    made: tuple[Conversion, ...]
    metadata: Any

    @cached_property
    def layout(self) -> tuple[bytes, Header]:
        """The new file's first bytes, and its header."""
        return placed(self.kept, [one.outputs for one in self.made], self.metadata)

    @property
    def size(self) -> int:
        """The new file's size."""
        return self.layout[1].file_size


@dataclass(frozen=True, kw_only=True)
class Plan:
    """`texts` are the small files that are written anew; `others` stay as they are."""

    checkpoint: Checkpoint
    conversions: tuple[Conversion, ...]
    shards: tuple[Shard, ...]
    texts: Mapping[str, bytes]
    others: tuple[str, ...]
    class_name: str
    accepted: tuple[gate.Acceptance, ...]

    @cached_property
    def fingerprint(self) -> str:
        """Tells an interrupted conversion of the same source from any other."""
        state = {
            "fse": __version__,
            "files": sorted((file.name, file.size, file.modified) for file in self.checkpoint.files.values()),
            "texts": {name: hashlib.sha256(data).hexdigest() for name, data in self.texts.items()},
            "made": [(one.shared.module, one.layout.name) for one in self.conversions],
        }
        return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def make_plan(folder: str | Path, *, accept_loss: bool = False) -> Plan:
    """The plan for the checkpoint in `folder`. InputError where it cannot be converted, or no release would fuse it."""
    checkpoint = open_checkpoint(folder)
    if (checkpoint.folder / JOURNAL).exists():
        raise InputError(JOURNAL, "is in the source, which is an unfinished conversion")
    for name in (MANIFEST, SUMS):
        if name in checkpoint.files:
            raise InputError(name, "is in the source, which was converted already or has a file of that name")
    class_name = gate.shown_class(checkpoint.model)
    branching = _branching(class_name)
    assert class_name is not None
    names = gate.names_of(checkpoint.model)
    found = conversions(checkpoint, names.slots)
    if not found:
        raise InputError("", "nothing to convert: no shared experts in full precision beside quantized routed ones")
    check_loss(found, accept=accept_loss)
    modules = Modules(
        converted=frozenset(one.shared.module for one in found), full=_full(checkpoint, found), rename=names.rename
    )
    texts = _configs(checkpoint, DIALECTS[class_name], modules, found)
    shards = _shards(checkpoint, found)
    accepted = _accepted(checkpoint, texts, shards, branching)
    if checkpoint.index is not None:
        texts[INDEX_FILE] = new_index(checkpoint.text(INDEX_FILE), checkpoint, found).encode()
    rewritten = {shard.name for shard in shards}
    return Plan(
        checkpoint=checkpoint,
        conversions=found,
        shards=shards,
        texts=texts,
        others=tuple(name for name in checkpoint.files if name not in rewritten and name not in texts),
        class_name=class_name,
        accepted=accepted,
    )


def _branching(class_name: str | None) -> tuple[str, ...]:
    if class_name is None:
        raise InputError(CONFIG_FILE, "has no quantization block: shared and routed experts are stored alike already")
    branching = gate.branching(class_name) if class_name in DIALECTS else ()
    if not branching:
        raise InputError(
            CONFIG_FILE,
            f"is read by {class_name}, for which no known vLLM release has a branch in its gate: it would refuse the "
            "converted checkpoint, too",
        )
    return branching


def _full(checkpoint: Checkpoint, found: Sequence[Conversion]) -> frozenset[str]:
    """The modules with a weight in full precision, without those that are converted."""
    weights = (
        name.removesuffix(".weight")
        for name, (_, tensor) in checkpoint.places.items()
        if name.endswith(".weight") and len(tensor.shape) >= 2 and tensor.dtype in _FULL
    )
    return frozenset(weights) - {one.shared.module for one in found}


def _configs(
    checkpoint: Checkpoint, dialect: Dialect, modules: Modules, found: Sequence[Conversion]
) -> dict[str, bytes]:
    """The files with a block, as they will be."""
    routed = {one.shared.module: one.routed.module.rsplit(".0.", 1)[0] for one in found}
    texts = {}
    for name in (CONFIG_FILE, HF_QUANT_FILE):
        if name in checkpoint.files:
            texts[name] = patched(name, checkpoint.text(name), dialect, modules, routed).encode()
    return texts


def _accepted(
    checkpoint: Checkpoint, texts: Mapping[str, bytes], shards: Sequence[Shard], branching: Sequence[str]
) -> tuple[gate.Acceptance, ...]:
    model = model_from_bytes(
        texts[CONFIG_FILE], hf_quant_config=texts.get(HF_QUANT_FILE), source=checkpoint.model.source
    )
    headers = {**checkpoint.shards, **{shard.name: shard.layout[1] for shard in shards}}
    accepted = gate.ask(gate.with_tensors(model, headers), branching)
    if not any(answer.accepts for answer in accepted):
        raise InputError(
            CONFIG_FILE,
            f"no release would fuse it once converted; vLLM {accepted[-1].release} says: {accepted[-1].why}",
        )
    return accepted


def _shards(checkpoint: Checkpoint, found: Sequence[Conversion]) -> tuple[Shard, ...]:
    replaced = {tensor.name for one in found for tensor in one.shared.tensors.values()}
    made: dict[str, list[Conversion]] = {}
    for one in found:
        made.setdefault(checkpoint.places[one.shared.weight.name][0], []).append(one)
        for tensor in one.outputs:
            if tensor.name in checkpoint.places and tensor.name not in replaced:
                raise InputError(tensor.name, "is in the checkpoint already")
    touched = {checkpoint.places[name][0] for name in replaced}
    return tuple(
        Shard(
            name=name,
            kept=tuple(t for t in header.tensors.values() if t.name not in replaced),
            made=tuple(made.get(name, ())),
            metadata=header.metadata,
        )
        for name, header in checkpoint.shards.items()
        if name in touched
    )


def linked(name: str) -> bool:
    """Whether a file that stays is linked: weights, which no one edits in place. A text is copied."""
    return name.endswith(WEIGHTS)
