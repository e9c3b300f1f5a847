"""What an unfinished conversion has done so far: a folder in the output, gone when all is done.

A record of a finished file is on the disk before the file has its name, so a file with a name and a record is whole.
"""

import hashlib
import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, TypeGuard

from fse_core.convert import disk
from fse_core.convert.checkpoint import JOURNAL
from fse_core.convert.disk import CannotWrite
from fse_core.convert.lock import NAME, Lock, locked
from fse_core.convert.shard import Record

FOLDER: Final = JOURNAL
_PLAN: Final = "plan"
_NEW: Final = "new"
_LONGEST: Final = 200
"""Of the 255 bytes that file systems allow, what is surely left beside `.json.new`."""


class Journal:
    """The journal in the folder `out`, which holds nothing but what this conversion wrote."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.folder = out / FOLDER

    def start(self, fingerprint: str) -> None:
        """Begins, or goes on, when the lock is held. CannotWrite where another conversion was begun here."""
        plan = self.folder / _PLAN
        if plan.exists():
            if plan.read_text(encoding="ascii", errors="replace") != fingerprint:
                raise CannotWrite(
                    str(self.out),
                    "holds an unfinished conversion of another source, or with other options or another fse; "
                    "remove it, or choose another folder",
                )
            return
        disk.write_whole(plan, fingerprint.encode(), self.folder / _NEW)

    def locked(self) -> AbstractContextManager[Lock]:
        """Keeps a second conversion out of the folder. CannotWrite where there is one."""
        return locked(self.folder, self.out)

    def temporary(self, name: str) -> Path:
        """Where the file is written until it is complete."""
        return self.folder / f"{_flat(name)}.part"

    def finished(self, name: str) -> Record | None:
        """What was recorded of the file, if it is there as recorded."""
        path = self.out / name
        try:
            record = json.loads(self._record(name).read_bytes())
            size = None if path.is_symlink() else path.stat().st_size
        except (OSError, ValueError, RecursionError):
            return None
        return record if _is_record(record) and record["size"] == size else None

    def finish(self, name: str, record: Record) -> None:
        """Records a file that is complete under its temporary name, and gives it its own."""
        self.note(name, record)
        disk.publish(self.temporary(name), self.out / name)

    def note(self, name: str, record: Record) -> None:
        """Records a file."""
        data = json.dumps(record, sort_keys=True).encode()
        disk.write_whole(self._record(name), data, self.folder / f"{_flat(name)}.{_NEW}")

    def _record(self, name: str) -> Path:
        return self.folder / f"{_flat(name)}.json"

    def remove(self) -> None:
        """All is done."""
        disk.remove_tree(self.folder, NAME)
        disk.sync_folder(self.out)


def _flat(name: str) -> str:
    """One name for a file in a folder, which no other file has. One that would be too long is told by its sum."""
    flat = name.replace("%", "%25").replace("/", "%2F")
    return flat if len(flat.encode()) <= _LONGEST else f"%{hashlib.sha256(flat.encode()).hexdigest()}"


def _is_record(record: Any) -> TypeGuard[Record]:
    """Whether it is what `note` writes."""
    if not isinstance(record, dict) or type(record.get("size")) is not int:
        return False
    summed = record.get("how") == "linked" or isinstance(record.get("sha256"), str)
    errors = record.get("errors", {})
    return (
        summed
        and isinstance(record.get("how"), str)
        and isinstance(errors, dict)
        and all(isinstance(error, dict) and {"relative_mse", "largest"} <= error.keys() for error in errors.values())
    )
