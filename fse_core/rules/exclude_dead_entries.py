"""Entries of the exclude list name modules that the release does not have, so that they leave nothing out.

Fp8Config and Quark compare names as a whole, after the model class has renamed those of the checkpoint. An entry with a
wrapper's name before it that the class does not drop (or without one that it puts there) matches nothing, and neither
does one that names a module which only holds others, as `self_attn`. What the entry means to leave out is then built
quantized: if it is stored in 16 bits, loading fails or goes wrong. The tensors' headers tell how it is stored.

Lists that give a module under several names, one of them the release's, are well. An entry that speaks of a shared
expert which is fused is told of by the rules about that.
"""

from collections.abc import Iterator

from fse_core.report import Fix
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, PartFacts, Rule
from fse_core.rules.excluding import Excluding, excluding

RULE = Rule(id="FSE104", name="exclude-dead-entries", severity="warning", confidence="likely")

_EXACT = ("Fp8Config", "QuarkConfig")
_ROUTERS = frozenset(("gate", "shared_expert_gate"))
"""They are built in 16 bits in any case."""

_ROOTS = ("", "model", "language_model", "language_model.model", "model.language_model", "language.model")
"""Where checkpoints keep the decoder layers of a language model."""

_OWN_WAY = ("Glm5NextForCausalLM", "Glm5NextForConditionalGeneration")
"""Classes that build their attention in 16 bits, listed or not (models/glm5next/common/model.py:1219 at 0.33.0)."""

_HOLDERS = ("self_attn", "linear_attn", "mlp", "block_sparse_moe", "ffn")


def check(facts: Facts) -> Iterator[Hit]:
    """One hit for the list."""
    listed = excluding(facts)
    target = next(iter(facts.parts), None)
    quantization = target.gate.quantization if target else None
    if listed is None or target is None or quantization is None or quantization.class_name not in _EXACT:
        return
    if not target.layers:
        return
    looked = _Looked(facts, target, listed.entries)
    moved, holders = dict(looked.moved()), tuple(looked.holding())
    if moved or holders:
        yield _hit(facts, listed, looked, moved, holders)


class _Looked:
    """Where the release's modules are, and how the class comes to the names that it compares."""

    def __init__(self, facts: Facts, part: PartFacts, entries: tuple[str, ...]) -> None:
        self.part = part
        self.root = part.layers[0].prefix.partition("layers.")[0].rstrip(".")
        count = facts.model.text.optional_integer("num_hidden_layers")
        self._count = count if count is not None else part.layers[-1].index + 1
        self._fused = bool(part.fused())
        self._fp8 = part.gate.quantization is not None and part.gate.quantization.class_name == "Fp8Config"
        self._names = {entry: self.renamed(entry) for entry in entries if _is_name(entry)}
        self._known = frozenset(self._names.values())

    def renamed(self, entry: str) -> str:
        for rename in self.part.part.renames:
            entry = rename(entry)
        return entry

    def moved(self) -> Iterator[tuple[str, str]]:
        """The entries that are called otherwise by the release, each with what it should be called in the file."""
        for entry, name in self._names.items():
            root, dot, rest = _split(name)
            module = f"{self.root}.{rest}" if self.root else rest
            if not dot or root == self.root or root not in _ROOTS or module in self._known or not self._judged(rest):
                continue
            written = (f"{other}.{rest}" if other else rest for other in (self.root, *_ROOTS))
            new = next((one for one in written if self.renamed(one) == module), None)
            if new is not None:
                yield entry, new

    def holding(self) -> Iterator[str]:
        """The entries that name what only holds other modules."""
        for entry, name in self._names.items():
            root, _, rest = _split(name)
            if (
                root == self.root
                and rest.rpartition(".")[2] in _HOLDERS
                and rest.count(".") == 2
                and self._judged(rest)
            ):
                yield entry

    def _judged(self, rest: str) -> bool:
        """Whether what follows the root is a linear module of the target, and nothing that is told of elsewhere."""
        _, number, module = (*rest.split(".", 2), "", "")[:3]
        if not number.isdigit() or int(number) >= self._count or _ROUTERS & set(module.split(".")):
            return False
        if self.part.part.model_class in _OWN_WAY and not module.startswith("mlp."):
            return False
        return not ((self._fused and "share" in module) or (self._fp8 and "experts" in module))


def _is_name(entry: str) -> bool:
    return not entry.startswith("re:") and "layers." in entry and not any(char in entry for char in "*?[")


def _split(name: str) -> tuple[str, str, str]:
    """What stands before `layers.`, a mark that it does stand there as a name of its own, and the rest with it."""
    before, found, after = name.partition("layers.")
    alone = before == "" or before.endswith(".")
    return before.rstrip("."), found if alone else "", f"{found}{after}"


def _hit(facts: Facts, listed: Excluding, looked: _Looked, moved: dict[str, str], holders: tuple[str, ...]) -> Hit:
    said = []
    if moved:
        said.append(f"{len(moved)} stand under a name that {looked.part.part.model_class} does not use")
    if holders:
        said.append(f"{len(holders)} name a module that only holds others")
    count = len(moved) + len(holders)
    return Hit(
        message=f"{count} of {len(listed.entries)} entries of {listed.path} match no module of vLLM "
        f"{facts.release.version}: {', '.join(said)}. What they mean is built quantized; if it is stored in 16 bits, "
        "loading fails or goes wrong.",
        consequence="load_fails",
        evidence=listed.evidence((*moved, *holders)),
        fixes=tuple(_fixes(facts, listed, moved)),
    )


def _fixes(facts: Facts, listed: Excluding, moved: dict[str, str]) -> Iterator[Fix]:
    if not moved:
        return
    patch = fixes.block_patch(facts, {listed.key: [moved.get(entry, entry) for entry in listed.entries]})
    if patch is not None:
        old, new = next(iter(moved.items()))
        summary = f"write {new} in {listed.path} for {old}, and so the other {len(moved) - 1}"
        yield Fix(kind="config_patch", safety="lossless", summary=summary, patch=patch)
