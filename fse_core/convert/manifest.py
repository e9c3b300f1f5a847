"""The record that a conversion leaves. The same files, with the same times, give the same bytes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fse_core.convert.plan import MANIFEST, Plan
from fse_core.convert.shard import Record
from fse_core.errors import InputError
from fse_core.version import __version__

_FILE = ("how", "size", "sha256")


def manifest(plan: Plan, records: Mapping[str, Record]) -> bytes:
    """`fse.convert/1`: every file, every converted tensor with its error, and what the releases say."""
    errors = {name: error for record in records.values() for name, error in record.get("errors", {}).items()}
    tensors = {}
    for one in plan.conversions:
        weight, scale = one.outputs
        tensors[weight.name] = {
            "layer": one.index,
            "from": one.source_name,
            "to": one.layout.name,
            "like": one.routed.weight.name,
            "payload": {"dtype": weight.dtype, "shape": weight.shape},
            "scale": {"name": scale.name, "dtype": scale.dtype, "shape": scale.shape},
            **{key: errors[weight.name][key] for key in ("relative_mse", "largest")},
        }
    document = {
        "schema": "fse.convert/1",
        "fse": __version__,
        "plan": plan.fingerprint,
        "quantization": plan.class_name,
        "releases": {one.release: {"accepts": one.accepts, "why": one.why} for one in plan.accepted},
        "files": {name: {key: record[key] for key in _FILE if key in record} for name, record in records.items()},
        "tensors": dict(sorted(tensors.items())),
    }
    return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()


def sums(records: Mapping[str, Record]) -> bytes:
    """The sums of all that was written, as `sha256sum --check` reads them. A linked file is the source's own."""
    return "".join(_line(record["sha256"], name) for name, record in records.items() if "sha256" in record).encode()


def _line(digest: str, name: str) -> str:
    """A name of several lines is written as `sha256sum` does, with a backslash before the sum."""
    if "\n" not in name:
        return f"{digest}  {name}\n"
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n")
    return f"\\{digest}  {escaped}\n"


def read_manifest(folder: Path) -> Mapping[str, Any]:
    """The manifest of a finished conversion. InputError where there is none, or it is not one."""
    try:
        document = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise InputError(str(folder), f"has no {MANIFEST}: it is no finished conversion") from None
    except OSError as error:
        raise InputError(MANIFEST, f"cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(MANIFEST, f"is not JSON: {error}") from None
    parts = (document.get("files"), document.get("tensors")) if isinstance(document, dict) else (None,)
    if not all(isinstance(part, dict) and all(isinstance(one, dict) for one in part.values()) for part in parts):
        raise InputError(MANIFEST, "expected the manifest that fse convert writes")
    return document  # type: ignore[no-any-return]
