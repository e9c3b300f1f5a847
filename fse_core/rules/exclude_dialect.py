"""The quantization block holds patterns in a dialect that its class does not speak.

Each class reads its own: Fp8Config and DeepSeek's take full names and nothing else; Quark takes full names and `re:`
patterns in `exclude`, but no shell patterns, and in `layer_quant_config` shell patterns and pieces of names, but no
`re:`; compressed-tensors takes names and `re:`; ModelOpt shell patterns and pieces of names. What is written in another
dialect is read as a name that no module has, and does nothing. In `layer_quant_config` a pattern is held against the
module of all routed experts (`...mlp.experts`) and never against a single one, so that `*.experts.*` misses them all.

What the pattern means is then built like all else: if it is stored otherwise, loading fails or goes wrong. The tensors'
headers tell. A pattern about a shared expert that is fused is told of by the rules about that.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fse_core.quantization.meant import is_glob
from fse_core.quantization.patterns import glob, regular
from fse_core.quantization.reading import leaves
from fse_core.report import Fix, Layer
from fse_core.rules import fixes
from fse_core.rules.base import Facts, Hit, PartFacts, Rule, where
from fse_core.rules.excluding import Excluding, excluding

RULE = Rule(id="FSE105", name="exclude-dialect", severity="warning", confidence="likely")

_SPEAKS: Mapping[str, tuple[str, ...]] = {
    "Fp8Config": (),
    "QuarkConfig": ("regex",),
    "CompressedTensorsConfig": ("regex",),
}
_MODELOPT = ("glob",)


def check(facts: Facts) -> Iterator[Hit]:
    """One hit for the list, one for the exceptions of Quark."""
    target = next(iter(facts.parts), None)
    quantization = target.gate.quantization if target else None
    if target is None or quantization is None or not target.layers:
        return
    name = quantization.class_name
    spoken = _SPEAKS.get(name, _MODELOPT if name.startswith("ModelOpt") else None)
    listed = excluding(facts)
    if listed is not None and spoken is not None:
        foreign = tuple(entry for entry in listed.entries if _dialect(entry) not in ("name", *spoken))
        foreign = tuple(entry for entry in foreign if not (target.fused() and "share" in entry))
        if foreign:
            yield _listed(facts, listed, name, foreign)
    if name == "QuarkConfig":
        yield from _exceptions(facts, target)


def _dialect(entry: str) -> str:
    return "regex" if entry.startswith("re:") else "glob" if is_glob(entry) else "name"


def _listed(facts: Facts, listed: Excluding, name: str, foreign: tuple[str, ...]) -> Hit:
    kinds = {"regex": "re: patterns", "glob": "shell patterns"}
    what = " and ".join(kinds[kind] for kind in sorted({_dialect(entry) for entry in foreign}))
    return Hit(
        message=f"{len(foreign)} of {len(listed.entries)} entries of {listed.path} are {what}, which {name} of vLLM "
        f"{facts.release.version} does not understand there: they leave nothing out. If what they mean is stored in 16 "
        "bits, loading fails or goes wrong.",
        consequence="load_fails",
        evidence=listed.evidence(foreign),
        fixes=tuple(_translated(facts, listed, name, foreign)),
    )


def _translated(facts: Facts, listed: Excluding, name: str, foreign: tuple[str, ...]) -> Iterator[Fix]:
    if "regex" not in _SPEAKS.get(name, ()):
        return
    words = {entry: _regex(entry) for entry in foreign}
    patch = fixes.block_patch(facts, {listed.key: [words.get(entry, entry) for entry in listed.entries]})
    if patch is not None:
        old, new = next(iter(words.items()))
        yield Fix(
            kind="config_patch",
            safety="lossless",
            summary=f"write {new} in {listed.path} for {old}, and so each shell pattern",
            patch=patch,
        )


def _regex(pattern: str) -> str:
    """The same as a `re:` pattern, which is matched from the name's start and need not reach its end."""
    special = {"*": ".*", "?": "."}
    return "re:" + "".join(special.get(char, f"\\{char}" if char in ".+()^$|{}\\" else char) for char in pattern) + "$"


def _exceptions(facts: Facts, part: PartFacts) -> Iterator[Hit]:
    """Keys of layer_quant_config that mean the routed experts, in words that do not reach them."""
    block = facts.model.quantization
    exceptions = block.fields.object("layer_quant_config", {}) if block is not None else None
    for key in exceptions or ():
        layers = tuple(layer for layer in part.layers if _means(key, layer, part) and not _reaches(key, layer))
        if layers and exceptions is not None and not _covered(exceptions.raw, layers):
            yield _exception(facts, part, exceptions.at(key), key, layers)


def _means(key: str, layer: Layer, part: PartFacts) -> bool:
    """Whether the key matches every weight of the layer's first routed expert, and none of its shared one."""
    if not (key.startswith("re:") or is_glob(key)):
        return False
    pattern = regular(key[3:]) if key.startswith("re:") else glob(key)
    routed, shared = (leaves(name, part.packed) for name in (f"{layer.experts}.0", layer.shared))
    return all(map(pattern.match, routed)) and not any(map(pattern.match, shared))


def _reaches(key: str, layer: Layer) -> bool:
    return not key.startswith("re:") and glob(key).match(layer.experts)


def _covered(exceptions: Mapping[str, Any], layers: tuple[Layer, ...]) -> bool:
    """Whether another key reaches the experts of the first of these layers."""
    return any(_reaches(key, layers[0]) if is_glob(key) else layers[0].experts in key for key in exceptions)


def _exception(facts: Facts, part: PartFacts, path: str, key: str, layers: tuple[Layer, ...]) -> Hit:
    fused = layers[0].decision.decision == "fused"
    then = "fuses them with the shared expert as" if fused else "builds them as"
    how = "re: is not understood there" if key.startswith("re:") else "it is held against the experts as a whole"
    return Hit(
        message=f"{where(layers)}: {path} means the routed experts and does not reach them, for {how}. vLLM "
        f"{facts.release.version} {then} the global scheme says. If they are stored as this exception says, loading "
        "fails or goes wrong.",
        consequence="load_fails",
        severity="error",
        layers=layers,
        evidence=(f"{path}: {key}",),
        fixes=tuple(_reaching(facts, key, layers)),
    )


def _reaching(facts: Facts, key: str, layers: tuple[Layer, ...]) -> Iterator[Fix]:
    block = facts.model.quantization
    scheme = block.fields.object("layer_quant_config").get(key) if block is not None else None
    name = layers[0].experts.rpartition(f".{layers[0].index}.")[2]
    patch = fixes.block_patch(facts, {"layer_quant_config": {f"*{name}": scheme}})
    if patch is not None:
        summary = f"add the same scheme to layer_quant_config under *{name}, which reaches them"
        yield Fix(kind="config_patch", safety="needs-evaluation", summary=summary, patch=patch)
