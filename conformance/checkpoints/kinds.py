"""Kinds of tiny checkpoints, sound and faulty: `kinds/recipes.toml` says how each is made, the other files of that
folder which of them a family has, and what is its own.

A checkpoint of a kind is a folder: config.json, one file of tensors or two, and an index where there are two.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from conformance.checkpoints import tensors
from conformance.checkpoints.blocks import block
from conformance.checkpoints.families import FAMILIES, HIDDEN, ROUTED, Family
from conformance.checkpoints.stores import STORES
from conformance.checkpoints.tensors import Tensor
from conformance.seeds import changed, seed

FOLDER = Path(__file__).parent / "kinds"
RECIPES = FOLDER / "recipes.toml"
FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a checkpoint is made.

    block, left_out, schemes: its quantization block (none where empty); in names `{moe}`, `{experts}` and `{shared}`
        are the layer's modules.
    routed, shared: the stores. experts: how many shared experts there are.
    told, stored: how wide the shared expert is by config and in its tensors, as a share of a routed one's width.
    edits: what is done to the tensors whose name matches a pattern: drop, `rename` one part to another, or store `as`.
    width: a routed expert's; a rank's share is large enough that no backend pads it.
    untrue: the block says of the shared expert what its tensors are not.
    draft: the stores of a draft's routed and shared experts, where the config says that there is one; `none` where
        nothing is stored of it, and empty where the config knows of none. In names it is `{draft}`.
    batched: a layer's routed experts are in one tensor for gate and up and one for down, as are their scales.
    surplus: how many routed experts more than by the config there are; less, if negative.
    files: `one`, or two with the shared experts in the second: `two`, which the index leaves out (`stray`) or which
        is lost (`lost`).
    """

    block: str = ""
    left_out: tuple[str, ...] = ()
    schemes: Mapping[str, str] = field(default_factory=dict)
    routed: str = "plain"
    shared: str = "plain"
    experts: int = 1
    told: float = 1.0
    stored: float = 1.0
    edits: tuple[tuple[str, ...], ...] = ()
    files: str = "one"
    targets: Mapping[str, str] = field(default_factory=dict)
    tp: int = 1
    width: int = 256
    untrue: bool = False
    draft: tuple[str, ...] = ()
    batched: bool = False
    surplus: int = 0


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of one family."""

    family: str
    recipe_name: str
    recipe: Recipe

    @property
    def name(self) -> str:
        return f"{self.family}/{self.recipe_name}"

    @property
    def called(self) -> Family:
        return FAMILIES[self.family]

    @property
    def overlay(self) -> Mapping[str, Any] | None:
        """What --quantization-config holds when this is served."""
        return {"targets": dict(self.recipe.targets)} if self.recipe.targets else None

    @property
    def digest(self) -> str:
        """Tells one checkpoint from another, whatever it is called. Its width stands in the config, and what is
        untrue in its tensors.
        """
        whole = {"config": self.config(), **asdict(self.recipe)}
        del whole["width"], whole["untrue"]
        for later in ("draft", "batched", "surplus"):
            if not whole[later]:
                del whole[later]
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:16]

    def config(self) -> dict[str, Any]:
        family, recipe = self.called, self.recipe
        sizes = dict.fromkeys(family.width_keys, recipe.width)
        if "shared_expert_intermediate_size" in sizes:
            sizes["shared_expert_intermediate_size"] = int(recipe.width * recipe.told)
        count = {family.count_key: recipe.experts} if family.count_key else {}
        count |= {family.draft_key: 1} if recipe.draft else {}
        changes = {family.root + key: value for key, value in {**family.config, **sizes, **count}.items()}
        whole = changed(seed(family.seed), changes | dict(family.beside))
        if not recipe.block:
            return whole
        left_out = [name for entry in recipe.left_out for name in self._named(entry)]
        schemes = {name: made for entry, made in recipe.schemes.items() for name in self._named(entry)}
        return whole | {"quantization_config": block(recipe.block, left_out, schemes)}

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor, those of the shared experts last."""
        made = [*self._routed(), *self._shared()]
        for what, pattern, *words in self.recipe.edits:
            made = list(_edited(made, what, pattern.replace("{draft}", str(self.called.draft)), words))
        yield from made

    def write(self, folder: Path) -> None:
        """The checkpoint's files."""
        (folder / "config.json").write_text(json.dumps(self.config(), indent=1))
        if self.recipe.files == "one":
            tensors.write(folder / "model.safetensors", self.tensors())
            return
        shared = f".{self.called.shared}."
        first = [tensor for tensor in self.tensors() if shared not in tensor.name]
        second = [tensor for tensor in self.tensors() if shared in tensor.name]
        tensors.write(folder / FIRST, first)
        if self.recipe.files != "lost":
            tensors.write(folder / SECOND, second)
        listed = {tensor.name: FIRST for tensor in first}
        if self.recipe.files != "stray":
            listed |= {tensor.name: SECOND for tensor in second}
        index = {"metadata": {}, "weight_map": listed}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))

    def _named(self, entry: str) -> Iterator[str]:
        """The entry itself, or once for each layer where it names one's modules."""
        shared = self.called.shared
        draft = {"draft": self.called.draft, "draft_shared": f"{self.called.draft}.{shared}"}
        made = (
            entry.format(moe=moe, experts=f"{moe}.experts", shared=f"{moe}.{shared}", **draft)
            for moe in self.called.layers()
        )
        yield from dict.fromkeys(made)

    def _stored(self) -> Iterator[tuple[str, str, str]]:
        """Each layer's MoE module, and how its routed and its shared experts are stored."""
        for layer in self.called.layers():
            yield layer, self.recipe.routed, self.recipe.shared
        if len(self.recipe.draft) > 1:
            assert self.called.draft is not None, self.name
            routed, shared = self.recipe.draft
            yield self.called.draft, routed, shared

    def _routed(self) -> Iterator[Tensor]:
        for layer, store, _ in self._stored():
            made = [
                list(_expert(f"{layer}.experts.{expert}", self.called.projections, store, self.recipe.width))
                for expert in range(ROUTED + self.recipe.surplus)
            ]
            yield from _batched(f"{layer}.experts", made) if self.recipe.batched else chain.from_iterable(made)

    def _shared(self) -> Iterator[Tensor]:
        wide = int(self.recipe.width * self.recipe.experts * self.recipe.stored)
        for layer, _, store in self._stored():
            name = f"{layer}.{self.called.shared}"
            yield from _expert(name, self.called.shared_projections, store, wide)


def _expert(prefix: str, projections: tuple[str, str, str], store: str, wide: int) -> Iterator[Tensor]:
    gate, up, down = projections
    for projection, rows, columns in ((gate, wide, HIDDEN), (up, wide, HIDDEN), (down, HIDDEN, wide)):
        yield from STORES[store](f"{prefix}.{projection}", rows, columns)


def _batched(prefix: str, made: list[list[Tensor]]) -> Iterator[Tensor]:
    """All experts of a layer: `gate_up_proj` and `down_proj`, each leaf behind its name."""
    whole: dict[str, list[Tensor]] = {}
    for expert in made:
        parts = {tensor.name.split(".experts.")[1].partition(".")[2]: tensor for tensor in expert}
        for leaf in (name.removeprefix("gate_proj.") for name in parts if name.startswith("gate_proj.")):
            both = tensors.stacked(leaf, (parts[f"gate_proj.{leaf}"], parts[f"up_proj.{leaf}"]))
            behind = leaf.removeprefix("weight") if leaf.startswith("weight") else f"_{leaf}"
            whole.setdefault(f"{prefix}.gate_up_proj{behind}", []).append(both)
            whole.setdefault(f"{prefix}.down_proj{behind}", []).append(parts[f"down_proj.{leaf}"])
    yield from (tensors.batched(name, experts) for name, experts in whole.items())


def _edited(made: Iterable[Tensor], what: str, pattern: str, words: list[str]) -> Iterator[Tensor]:
    for tensor in made:
        if not fnmatchcase(tensor.name, pattern):
            yield tensor
        elif what == "rename":
            yield replace(tensor, name=tensor.name.replace(words[0], words[1]))
        elif what == "as":
            rows, columns = tensor.shape
            yield from STORES[words[0]](tensor.name.removesuffix(".weight"), rows, columns)
        else:
            assert what == "drop", what


def _recipe(fields: Mapping[str, Any]) -> Recipe:
    given = dict(fields)
    for key in ("left_out", "edits", "draft"):
        given[key] = tuple(tuple(item) if isinstance(item, list) else item for item in given.get(key, ()))
    return Recipe(**given)


@cache
def kinds() -> tuple[Kind, ...]:
    """All of them, family by family."""
    recipes = tomllib.loads(RECIPES.read_text())
    found = []
    for file in sorted(FOLDER.glob("*.toml")):
        if file != RECIPES:
            content = tomllib.loads(file.read_text())
            own = content.get("own", {})
            made = {name: recipes[name] for name in content["kinds"]} | own
            found += [Kind(family=file.stem, recipe_name=name, recipe=_recipe(made[name])) for name in made]
    return tuple(found)
