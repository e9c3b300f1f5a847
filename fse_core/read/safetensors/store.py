"""Where headers are kept: what a commit's file holds never changes."""

import contextlib
import hashlib
import os
import tempfile
import zlib
from pathlib import Path
from typing import Final, Protocol

_MOST_KEPT: Final = 100 * 1024 * 1024


class Store(Protocol):
    """Bytes by key. A key names the repository, the commit and the file, and no account.

    Whoever shares a store between accounts asks the Hub first whether this one may read the repository.
    """

    def get(self, key: str) -> bytes | None:
        """What was put under the key, None where there is nothing or it cannot be had."""
        ...

    def put(self, key: str, value: bytes) -> None:
        """Keeps it if it can."""
        ...


class FolderStore:
    """A folder with a file a key, compressed. What cannot be read or written counts as not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> bytes | None:
        with contextlib.suppress(OSError, zlib.error):
            inflate = zlib.decompressobj()
            value = inflate.decompress(self._path(key).read_bytes(), _MOST_KEPT)
            if inflate.eof:  # a file that was cut short, or was made to grow, is none
                return value
        return None

    def put(self, key: str, value: bytes) -> None:
        with contextlib.suppress(OSError):
            path = self._path(key)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(zlib.compress(value, 1))
                os.replace(name, path)
            except BaseException:
                os.unlink(name)
                raise

    def _path(self, key: str) -> Path:
        digest = hashlib.sha256(key.encode()).hexdigest()
        return self.folder / digest[:2] / digest[2:]


def user_store() -> FolderStore:
    """The store in the user's own cache folder."""
    root = os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(root) if os.path.isabs(root) else Path.home() / ".cache"
    return FolderStore(cache / "fse" / "headers")
