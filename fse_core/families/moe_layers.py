"""What the families share whose classes can fuse: values as a config class holds them, and the layers made of them."""

from collections.abc import Container, Iterable, Mapping
from typing import Any

from fse_core.errors import InputError
from fse_core.families.base import MoeLayer
from fse_core.read.getters import Fields
from fse_core.read.model import Model

Defaults = Mapping[str, Any]
"""What a config class fills in for keys that the file does not have."""

MOST_LAYERS = 1024
"""Far above any real model: a config that asks for more is refused instead of filling the memory."""


def known(model: Model, names: Container[str]) -> str:
    """The first architecture that the config names and that is one of `names`: the one that vLLM builds."""
    listed = model.config.strings("architectures", [])
    return next((name for name in listed if name in names), model.require_architecture())


def number(fields: Fields, key: str, defaults: Defaults, *, least: int = 0) -> int | None:
    """The integer at `key` as the config class holds it: None where the file says null, the class's value if absent."""
    if key in fields:
        return None if fields.get(key) is None else fields.integer(key, least=least)
    if key in defaults:
        value: int | None = defaults[key]
        return value
    return fields.integer(key, least=least)


def layer_count(fields: Fields, defaults: Defaults) -> int:
    """The number of decoder layers. Null is refused: no class can be built with it."""
    count = number(fields, "num_hidden_layers", defaults)
    if count is None or count > MOST_LAYERS:
        raise InputError(
            fields.at("num_hidden_layers"), f"expected an integer of at most {MOST_LAYERS}, got {count or 'null'}"
        )
    return count


def draft_count(fields: Fields, key: str, default: int | None, *, alias: str | None = None) -> int:
    """How many draft layers the checkpoint has; none where the draft could not be built.

    `alias` is another name of the key, which counts where the key itself is absent.
    """
    if alias is not None and key not in fields and alias in fields:
        key = alias
    return min(number(fields, key, {key: default}) or 0, MOST_LAYERS)


def after(first: int, count: int) -> range:
    """The numbers of `count` draft layers that follow `first` decoder layers."""
    return range(first, first + count)


def moe_layers(
    prefix: str, indices: Iterable[int], slots: int, *, shared_name: str = "shared_experts"
) -> tuple[MoeLayer, ...]:
    """Layers whose MoE module is `prefix`, in which `{i}` is the index."""
    return tuple(
        MoeLayer(index=i, prefix=prefix.format(i=i), slots=slots, shared_name=shared_name, empty=slots == 0)
        for i in indices
    )
