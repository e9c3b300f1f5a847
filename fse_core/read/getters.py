"""Typed access to parsed JSON. Every error carries the JSON path and says what was expected and what was found."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from fse_core.errors import InputError

_REQUIRED: Final = object()
_PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,80}")


def shown(value: Any) -> str:
    """`value` as JSON, cut to what fits in a message and safe to print."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    short = text if len(text) <= 60 else f"{text[:57]}..."
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in short)


def join(path: str, key: str) -> str:
    """The path of `key` below `path`: `a.b`, or `a["model.layers.*"]` for a key that a dot would leave ambiguous."""
    if not _PLAIN_KEY.fullmatch(key):
        return f"{path}{' ' if path.endswith(':') else ''}[{shown(key)}]"
    if not path:
        return key
    return f"{path} {key}" if path.endswith(":") else f"{path}.{key}"


class Fields:
    """A JSON object and the path that leads to it. A key that is absent or null takes the default, if one is given.

    A path that ends in a colon names a file: `hf_quant_config.json:` leads to `hf_quant_config.json: quantization`.
    """

    def __init__(self, mapping: Mapping[str, Any], path: str = "") -> None:
        self.raw = mapping
        self.path = path

    def __contains__(self, key: str) -> bool:
        return key in self.raw

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def at(self, key: str) -> str:
        """The path of `key` below this object."""
        return join(self.path, key)

    def get(self, key: str) -> Any:
        """The value as it is, None where the key is absent."""
        return self.raw.get(key)

    def _absent(self, key: str, default: Any, expected: str) -> bool:
        """Whether the default is to be taken."""
        if self.raw.get(key) is not None:
            return False
        if default is _REQUIRED:
            found = "null" if key in self.raw else "nothing"
            raise InputError(self.at(key), f"expected {expected}, got {found}")
        return True

    def integer(self, key: str, default: Any = _REQUIRED, *, least: int = 0) -> int:
        if self._absent(key, default, "an integer"):
            return default  # type: ignore[no-any-return]
        value = self.raw[key]
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(self.at(key), f"expected an integer, got {shown(value)}")
        if value < least:
            raise InputError(self.at(key), f"expected an integer of at least {least}, got {value}")
        return value

    def optional_integer(self, key: str) -> int | None:
        """The integer, or None where the key is absent or null."""
        return None if self.raw.get(key) is None else self.integer(key)

    def boolean(self, key: str, default: Any = _REQUIRED) -> bool:
        if self._absent(key, default, "true or false"):
            return default  # type: ignore[no-any-return]
        value = self.raw[key]
        if not isinstance(value, bool):
            raise InputError(self.at(key), f"expected true or false, got {shown(value)}")
        return value

    def string(self, key: str, default: Any = _REQUIRED) -> str:
        if self._absent(key, default, "a string"):
            return default  # type: ignore[no-any-return]
        value = self.raw[key]
        if not isinstance(value, str):
            raise InputError(self.at(key), f"expected a string, got {shown(value)}")
        return value

    def optional_string(self, key: str) -> str | None:
        """The string, or None where the key is absent or null."""
        return None if self.raw.get(key) is None else self.string(key)

    def sequence(self, key: str, default: Any = _REQUIRED) -> list[Any]:
        value = default if self._absent(key, default, "a list") else self.raw[key]
        if not isinstance(value, (list, tuple)):
            raise InputError(self.at(key), f"expected a list, got {shown(value)}")
        return list(value)

    def strings(self, key: str, default: Any = _REQUIRED) -> list[str]:
        values = self.sequence(key, default)
        for index, value in enumerate(values):
            if not isinstance(value, str):
                raise InputError(f"{self.at(key)}[{index}]", f"expected a string, got {shown(value)}")
        return values

    def integers(self, key: str, default: Any = _REQUIRED) -> list[int]:
        values = self.sequence(key, default)
        for index, value in enumerate(values):
            if isinstance(value, bool) or not isinstance(value, int):
                raise InputError(f"{self.at(key)}[{index}]", f"expected an integer, got {shown(value)}")
        return values

    def object(self, key: str, default: Any = _REQUIRED) -> "Fields":
        value = default if self._absent(key, default, "an object") else self.raw[key]
        if not isinstance(value, Mapping):
            raise InputError(self.at(key), f"expected an object, got {shown(value)}")
        return Fields(value, self.at(key))
