"""Where a model's facts come from: a file, a folder, stdin, a Hub id, or a dict that a caller holds."""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from fse_core.errors import FetchError, InputError
from fse_core.read.document import MAX_BYTES, parse_object
from fse_core.read.getters import Fields, shown
from fse_core.read.model import CONFIG_FILE, HF_QUANT_FILE, Document, Model
from fse_core.read.values import checked
from fse_core.report import Source

STDIN: Final = "-"

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def read_model(
    source: str, *, stdin: BinaryIO | None = None, token: str | None = None, deadline: float = 30.0
) -> Model:
    """The model that `source` names.

    In this order: `-` is stdin; a URL is refused; a path that exists is read, a file alone, a folder with its
    hf_quant_config.json; a string that can only be a path is refused as one that does not exist; anything else is a
    Hub id, `org/name` or `org/name@revision`. To read a folder that is named like an id is a matter of being where
    it is; to ask the Hub although such a folder is there, add `@main`.
    """
    if source == STDIN:
        if stdin is None and sys.stdin is None:
            raise InputError("stdin", "is closed")
        return model_from_bytes(_read(stdin or sys.stdin.buffer), "stdin", source=Source(kind="inline", id="stdin"))
    if _URL.match(source):
        # The URL itself is not repeated: it may hold a password.
        raise InputError("SOURCE", "is a URL, which is not read; give a Hub id such as org/name@revision, or a path")
    if not source:
        raise InputError("SOURCE", "is empty; give a file, a folder, a Hub id or -")
    path = Path(source)
    if _exists(path):
        return _from_folder(path) if path.is_dir() else _from_file(path)
    if _only_a_path(source):
        raise InputError(source, "no such file or folder")
    from fse_core.read.hub import fetch

    try:
        files = fetch(source, token=token, deadline=deadline)
    except FetchError as error:
        if error.kind != "missing_repo":
            raise
        raise FetchError(error.kind, f"{error.message}; no file or folder has that name, either") from None
    return model_from_bytes(files.config, hf_quant_config=files.hf_quant_config, source=files.source)


def model_from_dict(
    config: Mapping[str, Any], hf_quant_config: Mapping[str, Any] | None = None, *, id: str = "inline"
) -> Model:
    """The model that parsed documents describe. They are copied, and held to the same bounds as documents are."""
    return _model(
        checked(config, CONFIG_FILE),
        None if hf_quant_config is None else checked(hf_quant_config, HF_QUANT_FILE),
        Source(kind="inline", id=id),
    )


def model_from_bytes(
    config: bytes, name: str = CONFIG_FILE, *, hf_quant_config: bytes | None = None, source: Source
) -> Model:
    """The model that the bytes of its files describe. `name` is what errors call the first one."""
    return _model(
        parse_object(config, name),
        None if hf_quant_config is None else parse_object(hf_quant_config, HF_QUANT_FILE),
        source,
        tuple(_documents(config, hf_quant_config, source)),
    )


def _documents(config: bytes, hf_quant_config: bytes | None, source: Source) -> Iterator[Document]:
    yield Document(file=_where(source, CONFIG_FILE), name="", data=config)
    if hf_quant_config is not None:
        yield Document(file=_where(source, HF_QUANT_FILE), name=f"{HF_QUANT_FILE}:", data=hf_quant_config)


def _where(source: Source, file: str) -> str:
    """Where one of a source's files is: a path, an address in the Hub, or what a stream is called."""
    if source.kind == "hub":
        return f"hf://{source.id}@{source.commit or source.revision or 'main'}/{file}"
    return os.path.join(source.id, file) if source.kind == "path" and os.path.isdir(source.id) else source.id


def _model(
    config: Mapping[str, Any],
    hf_quant_config: Mapping[str, Any] | None,
    source: Source,
    documents: tuple[Document, ...] = (),
) -> Model:
    quant = None if hf_quant_config is None else Fields(hf_quant_config, f"{HF_QUANT_FILE}:")
    return Model(source=source, config=Fields(config), hf_quant_config=quant, documents=documents)


def _exists(path: Path) -> bool:
    try:
        return path.exists() or path.is_symlink()
    except (OSError, ValueError) as error:  # a name that is too long, or holds a NUL
        raise InputError(shown(str(path)), f"cannot be looked up: {error}") from None


def _only_a_path(source: str) -> bool:
    """No Hub id starts so, ends so, or has more than one slash outside its revision."""
    name = source.partition("@")[0]
    return (
        not source
        or source.startswith((".", "/", "~", os.sep))
        or source.endswith(("/", os.sep, ".json"))
        or "\\" in source
        or name.count("/") > 1
    )


def _from_file(path: Path) -> Model:
    # A pipe is what a shell makes of `<(command)`.
    data = _read_path(path) if path.is_fifo() else _read_file(path)
    return model_from_bytes(data, path.name, source=Source(kind="path", id=str(path)))


def _from_folder(folder: Path) -> Model:
    config, quant = folder / CONFIG_FILE, folder / HF_QUANT_FILE
    if not _exists(config):
        raise InputError(str(folder), f"the folder has no {CONFIG_FILE}")
    return model_from_bytes(
        _read_file(config),
        hf_quant_config=_read_file(quant) if _exists(quant) else None,
        source=Source(kind="path", id=str(folder)),
    )


def _read_file(path: Path) -> bytes:
    if not path.is_file():
        # Opening a pipe may block, and a device may never end.
        raise InputError(str(path), "expected a file, and it is none or leads to none")
    return _read_path(path)


def _read_path(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return _read(file)
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from None


def _read(file: BinaryIO) -> bytes:
    """At most one byte more than the bound, which is enough to see that it is exceeded."""
    return file.read(MAX_BYTES + 1)
