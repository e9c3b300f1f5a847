"""Asks a family for its parts, and writes each as one line that a test can hold against the release's answer."""

from typing import Any

from fse_core import Target, releases
from fse_core.families import families
from fse_core.families.base import Part
from fse_core.names import Rename
from fse_core.read.source import model_from_dict


def parts(config: dict[str, Any], **target: Any) -> tuple[Part, ...]:
    """What the family of the config's first architecture says."""
    return families()[config["architectures"][0]].parts(
        model_from_dict(config), Target(**target), releases.load("latest")
    )


def said(part: Part) -> str:
    """`class: shared experts' names, `*` for the index [indices] x slots`."""
    if not part.layers:
        return f"{part.model_class}: no layers"
    names = {layer.shared.replace(f".{layer.index}.", ".*.") for layer in part.layers}
    slots = {layer.slots for layer in part.layers}
    assert all(layer.experts == f"{layer.prefix}.experts" for layer in part.layers)
    return (
        f"{part.model_class}: {' '.join(names)} {[layer.index for layer in part.layers]} x{' x'.join(map(str, slots))}"
    )


def lines(config: dict[str, Any], **target: Any) -> list[str]:
    return [said(part) for part in parts(config, **target)]


def renamed(renames: tuple[Rename, ...], name: str) -> str:
    for rename in renames:
        name = rename(name)
    return name
