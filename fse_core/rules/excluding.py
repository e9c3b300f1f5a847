"""The list of modules that a quantization block leaves out, as it stands in the file."""

from dataclasses import dataclass

from fse_core.read.getters import Fields
from fse_core.rules.base import Facts

_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Excluding:
    """`path` is where the list stands, `key` its name there."""

    path: str
    key: str
    entries: tuple[str, ...]
    nested: bool = False

    def evidence(self, entries: tuple[str, ...]) -> tuple[str, ...]:
        """The first of these entries, each with its place."""
        more = (f"{self.path}: {len(entries) - _SHOWN} more",) if len(entries) > _SHOWN else ()
        return (*(f"{self.path}: {entry}" for entry in entries[:_SHOWN]), *more)


_KEYS = {
    "Fp8Config": ("ignored_layers", "modules_to_not_convert"),
    "QuarkConfig": ("exclude",),
    "CompressedTensorsConfig": ("ignore",),
}
_MODELOPT = ("exclude_modules", "ignore", "ignored_layers")


def excluding(facts: Facts) -> Excluding | None:
    """The list that the model's quantization class reads; None where there is none, or the class is another."""
    block = facts.model.quantization
    name = next((part.gate.quantization.class_name for part in facts.parts if part.gate.quantization), None)
    if block is None or name is None:
        return None
    keys = _KEYS.get(name, _MODELOPT if name.startswith("ModelOpt") else ())
    nested = isinstance(block.fields.get("quantization"), dict)
    fields = block.fields.object("quantization") if nested and name.startswith("ModelOpt") else block.fields
    return _first(fields, keys, nested=fields is not block.fields)


def _first(fields: Fields, keys: tuple[str, ...], *, nested: bool) -> Excluding | None:
    for key in keys:
        if fields.get(key):
            return Excluding(path=fields.at(key), key=key, entries=tuple(fields.strings(key)), nested=nested)
    return None
