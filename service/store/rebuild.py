"""Moving a damaged database aside, once however many workers find it damaged."""

import fcntl
import os
import time
from pathlib import Path

Identity = tuple[int, int]


def identity(path: Path) -> Identity | None:
    """Which file the path leads to now, None where there is none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def move_aside(path: Path, damaged: Identity | None) -> str | None:
    """The damaged file's new name, None where another worker has already put another file in its place."""
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if identity(path) != damaged:
            return None
        aside = f"{path}.damaged-{time.strftime('%Y%m%dT%H%M%S')}"
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(f"{path}{suffix}"):
                os.replace(f"{path}{suffix}", f"{aside}{suffix}")
        return aside
