"""A release's data on top of what it inherits: a file states what changed, and nothing else."""

from collections.abc import Mapping
from typing import Any

Data = Mapping[str, Any]

ITEMS = {
    ("wired",): "classes",
    ("architectures",): "names",
    ("capabilities",): "names",
}
"""Tables with one set in them, whose members `add` and `remove` name."""

WHOLE = {("changes",), ("quantization", "methods"), ("choices", "moe_backend"), ("choices", "all2all_backend")}
"""What is stated anew where it changes at all, for its order or its being new is what counts."""


def merged(base: Data, delta: Data, path: tuple[str, ...] = ()) -> dict[str, Any]:
    """`base` with the changes of `delta`. ValueError where it removes what is not there, or adds what is."""
    if path in ITEMS:
        return {ITEMS[path]: _items(base[ITEMS[path]], delta, path)}
    result = dict(base)
    for key in delta.get("remove", ()):
        if key not in result:
            raise ValueError(f"{'.'.join(path)}: there is no {key!r} to remove")
        del result[key]
    for key, value in delta.items():
        inner = (*path, key)
        if key == "remove":
            continue
        nested = isinstance(value, Mapping) and inner not in WHOLE and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value, inner) if nested else value
    return result


def _items(base: list[str], delta: Data, path: tuple[str, ...]) -> list[str]:
    """The members of a set after `add` and `remove`."""
    add, remove = delta.get("add", []), delta.get("remove", [])
    lacking, double = set(remove) - set(base), set(add) & set(base)
    if lacking or double:
        raise ValueError(f"{'.'.join(path)}: cannot remove {sorted(lacking)} or add {sorted(double)}")
    return sorted((set(base) - set(remove)) | set(add))


EMPTY: Data = {
    "changes": [],
    "environment": {},
    "gpu": {},
    "choices": {},
    "quantization": {},
    "overlay": {"keys": [], "names": [], "shorthands": []},
    "gate": {"branches": [], "own": {}},
    "words": {},
    "wired": {"classes": []},
    "architectures": {"names": []},
    "capabilities": {"names": []},
    "faults": {},
    "functions": {},
}
"""What the first release changes."""


def on_top(base: Data | None, delta: Data) -> dict[str, Any]:
    """A release's whole data. Its changes are its own; all else it inherits."""
    whole = merged(EMPTY if base is None else {**base, "changes": []}, delta)
    whole["inherits"] = delta.get("inherits")
    return whole
