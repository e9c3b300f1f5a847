"""Changes that several rules propose."""

from collections.abc import Mapping
from typing import Any

from fse_core import releases, request
from fse_core.names import Rename
from fse_core.quantization.reading import leaves
from fse_core.read.model import CONFIG_FILE, TEXT_KEYS
from fse_core.report import Fix, Layer
from fse_core.rules.base import Facts, PartFacts


def fusion_off() -> Fix:
    """Run the shared experts as modules of their own."""
    return Fix(
        kind="env",
        safety="lossless",
        summary=f"set {request.FUSION}=0: the shared experts run as modules of their own, as they are stored",
        patch={request.FUSION: "0"},
    )


def gate_release(facts: Facts) -> Fix | None:
    """The first release that asks before it fuses."""
    if facts.release.branches:
        return None
    first = next((name for name in releases.known() if releases.load(name).branches), None)
    if first is None:
        return None
    return Fix(
        kind="release",
        safety="lossless",
        summary=f"use vLLM {first}, which asks for each layer and leaves such a one unfused",
        patch={"vllm": first},
    )


def requantized_online(shared_name: str) -> Fix:
    """The overlay that makes MXFP4 of a 16-bit shared expert while it loads."""
    targets = {f"*{shared_name}*": "mxfp4"}
    return Fix(
        kind="quantization_config",
        safety="changes-numerics",
        summary="use vLLM 0.32.0 or newer and quantize the shared experts to MXFP4 while they load, by "
        f"--quantization-config with the target *{shared_name}*",
        patch={"vllm": "0.32.0", "quantization_config": {"targets": targets}},
    )


def rewritten_list(
    facts: Facts, part: PartFacts, place: str, entries: tuple[str, ...], layers: tuple[Layer, ...]
) -> Fix | None:
    """The exclude list with these layers' projections by full name, in the place of entries that are not taken, if any.

    What else those entries speak of, in the same part or another, is named too, for they are the only word on it. None
    where the class renames what is listed, so that the names here are not those of the file.
    """
    block = facts.model.quantization
    key = place.rpartition(".")[2]
    if block is None or block.in_text or block.compression or not isinstance(block.fields.get(key), list):
        return None
    names = []
    for one in facts.parts:
        spoken_of = [layer for layer in one.layers if layer in layers or _speak_of(entries, facts, one, layer)]
        own = [leaf for layer in spoken_of for leaf in leaves(layer.shared, one.packed)]
        renames = one.part.renames if own or one is part else ()
        if any(_moved(rename, name) for rename in renames for name in (*own, *entries)):
            return None
        names += own
    then = "they are then left unfused" if facts.release.branches else "and turn fusion off: they are then left"
    kept = [entry for entry in block.fields.strings(key) if entry not in entries]
    return Fix(
        kind="config_patch",
        safety="lossless",
        summary=f"write the {len(names)} full names of the shared experts' projections in {place}"
        f"{' instead of ' if entries else ''}{', '.join(entries[:3])}{' ...' if len(entries) > 3 else ''}; {then} as "
        "they are stored",
        patch={"quantization_config": {key: [*kept, *(name for name in names if name not in kept)]}},
    )


def block_patch(facts: Facts, changes: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What changes these keys of the quantization block in config.json; None where the block does not stand there."""
    block = facts.model.quantization
    if block is None or block.file != CONFIG_FILE:
        return None
    patch = {"compression_config" if block.compression else "quantization_config": dict(changes)}
    if not block.in_text:
        return patch
    return {next(key for key in TEXT_KEYS if facts.model.config.get(key) is not None): patch}


def later_release(facts: Facts, version: str, because: str) -> Fix:
    """Another release, and what it does better."""
    summary = f"use vLLM {version}, which {because}"
    return Fix(kind="release", safety="lossless", summary=summary, patch={"vllm": version})


def _speak_of(entries: tuple[str, ...], facts: Facts, part: PartFacts, layer: Layer) -> bool:
    stored = facts.stored(part, layer) if entries else None
    return stored is not None and not set(entries).isdisjoint(stored.entries)


def _moved(rename: Rename, name: str) -> bool:
    return rename(name) != name
