"""Carries a plan out: into a new folder, or into one where the same plan was interrupted."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from fse_core.convert import disk
from fse_core.convert.ahead import require_device
from fse_core.convert.disk import CannotWrite, explained
from fse_core.convert.journal import FOLDER, Journal
from fse_core.convert.manifest import manifest, read_manifest, sums
from fse_core.convert.plan import MANIFEST, SUMS, Plan, Shard, linked
from fse_core.convert.shard import Record
from fse_core.convert.workers import Crew, Lost, write_shards
from fse_core.errors import InputError
from fse_core.read.model import CONFIG_FILE


class Watcher(Protocol):
    """Is told how a conversion goes on."""

    def begin(self, total: int) -> None: ...
    def advance(self, count: int) -> None: ...
    def lost(self, what: Lost) -> None: ...


def run(
    plan: Plan, out: str | Path, watcher: Watcher, *, workers: int = 1, device: str = "auto"
) -> Mapping[str, Record]:
    """Writes the converted checkpoint, and says what became of each file.

    CannotWrite where that is not possible; what is complete is kept, and a second run goes on from there.
    """
    folder = Path(os.path.abspath(out))
    require_device(device)
    with explained(folder):
        _claim(plan, folder)
        journal = Journal(folder)
        if not _is_done(folder):
            _require_room(plan, folder, journal)
        elif not journal.folder.exists():
            return _done_before(plan, folder)
        with journal.locked() as lock:
            if _is_done(folder):  # by a conversion that had the lock until now, too
                records = _done_before(plan, folder)
            else:
                journal.start(plan.fingerprint)
                records = _all(plan, folder, journal, watcher, Crew(size=workers, device=device, lock=lock))
            journal.remove()
    return records


def _is_done(out: Path) -> bool:
    """The manifest is written last: where it is, only the journal may be left."""
    return (out / MANIFEST).exists()


def _claim(plan: Plan, out: Path) -> None:
    """Makes the folder, or takes one that is empty or holds this conversion."""
    source = plan.checkpoint.folder.resolve()
    if out.is_symlink():
        raise CannotWrite(str(out), "is a link, which is not written through")
    place = _resolved(out)
    if place == source or place.is_relative_to(source) or source.is_relative_to(place):
        raise CannotWrite(str(out), "is the source, or one of the two is in the other: the source is never written to")
    if out.is_dir():
        held = set(os.listdir(out))
        if held and not held & {FOLDER, MANIFEST}:
            raise CannotWrite(str(out), f"holds files that are none of a conversion, such as {min(held)}")
        return
    if out.exists():
        raise CannotWrite(str(out), "expected a folder, or nothing")
    os.makedirs(out.parent, exist_ok=True)
    disk.make_folder(out, source.stat().st_mode)


def _resolved(out: Path) -> Path:
    try:
        return out.resolve()
    except (OSError, RuntimeError):  # which one says that links lead in a circle hangs on Python's version
        raise CannotWrite(str(out), "lies behind a link that leads nowhere") from None


def _done_before(plan: Plan, out: Path) -> Mapping[str, Record]:
    """The records of a finished conversion. CannotWrite where it is none of this plan's."""
    document = read_manifest(out)
    if document.get("plan") == plan.fingerprint:
        files: Mapping[str, Record] = document["files"]
        _require_tensors(plan, document["tensors"])
        _require_sizes(out, files)
        return files
    raise CannotWrite(str(out), "holds a finished conversion of another source, or with other options or another fse")


def _require_tensors(plan: Plan, tensors: Mapping[str, Record]) -> None:
    whole = all(type(one.get("layer")) is int and type(one.get("relative_mse")) is float for one in tensors.values())
    if not whole or tensors.keys() != {one.outputs[0].name for one in plan.conversions}:
        raise InputError(MANIFEST, "does not list the converted tensors; remove the folder, or choose another")


def _require_sizes(out: Path, files: Mapping[str, Record]) -> None:
    """Says so where a file of a finished conversion is no longer what it was, as far as its size tells."""
    for name, record in files.items():
        path = out / name
        if "how" not in record or path.is_symlink() or not path.is_file() or path.stat().st_size != record.get("size"):
            raise CannotWrite(
                str(out),
                f"holds a finished conversion whose {name} is missing, or is not as large as it was written; "
                "remove the folder, or choose another",
            )


def _require_room(plan: Plan, out: Path, journal: Journal) -> None:
    """Ends before anything is written where it cannot fit: links take no room."""
    sizes = {shard.name: shard.size for shard in plan.shards} | {name: len(data) for name, data in plan.texts.items()}
    sizes |= {name: plan.checkpoint.files[name].size for name in _copies(plan, out)}
    needed = sum(size for name, size in sizes.items() if journal.finished(name) is None)
    free = shutil.disk_usage(out).free
    if needed > free:
        raise CannotWrite(
            str(out), f"needs {needed:,} bytes, and the disk has {free:,} free; nothing more has been written"
        )


def _copies(plan: Plan, out: Path) -> list[str]:
    """The files that stay, and cannot be linked to."""
    device = os.stat(out).st_dev
    files = plan.checkpoint.files
    return [name for name in plan.others if not linked(name) or os.stat(files[name].path).st_dev != device]


def _all(plan: Plan, out: Path, journal: Journal, watcher: Watcher, crew: Crew) -> Mapping[str, Record]:
    """Every file; the config last but for what tells of it, so that a folder without one is not served by mistake."""
    found = {shard.name: _written(shard, journal) for shard in plan.shards}
    left: list[Shard] = [shard for shard in plan.shards if found[shard.name] is None]
    copies = {name for name in _copies(plan, out) if journal.finished(name) is None}
    watcher.begin(sum(shard.size for shard in left) + sum(plan.checkpoint.files[name].size for name in copies))
    records = {name: record for name, record in found.items() if record is not None}
    for name in plan.others:
        records[name] = journal.finished(name) or _stays(plan, name, out, journal, watcher)
    records |= write_shards(plan.checkpoint, left, journal, watcher.advance, watcher.lost, crew)
    for name, data in sorted(plan.texts.items(), key=lambda text: text[0] == CONFIG_FILE):
        same = data == plan.checkpoint.files[name].path.read_bytes()
        record = {"how": "copied" if same else "patched"}
        records[name] = record | _text(name, data, plan.checkpoint.files[name].mode, out, journal)
    records = dict(sorted(records.items()))
    mode = plan.checkpoint.files[CONFIG_FILE].mode
    _text(SUMS, sums(records), mode, out, journal)
    _text(MANIFEST, manifest(plan, records), mode, out, journal)
    return records


def _written(shard: Shard, journal: Journal) -> Record | None:
    """The record of a finished shard, with the error of every weight that is made in it."""
    record = journal.finished(shard.name)
    made = {one.outputs[0].name for one in shard.made}
    return record if record is not None and record.get("errors", {}).keys() == made else None


def _text(name: str, data: bytes, mode: int, out: Path, journal: Journal) -> Record:
    digest = disk.write_whole(out / name, data, journal.temporary(name), mode)
    return {"size": len(data), "sha256": digest}


def _stays(plan: Plan, name: str, out: Path, journal: Journal, watcher: Watcher) -> Record:
    """Links a file that stays as it is, or copies it."""
    file = plan.checkpoint.files[name]
    source_folder, folder = plan.checkpoint.folder, out
    for part in name.split("/")[:-1]:
        source_folder, folder = source_folder / part, folder / part
        disk.make_folder(folder, source_folder.stat().st_mode)
    temporary = journal.temporary(name)
    if linked(name) and disk.link(file.path, temporary):
        record: Record = {"how": "linked", "size": file.size}
    else:
        with disk.reading(file.path, name) as source, disk.sink(temporary, watcher.advance, file.mode) as sink:
            disk.copy_range(source, 0, file.size, sink, name)
            record = {"how": "copied", "size": file.size, "sha256": sink.close()}
    journal.finish(name, record)
    return record
