"""Which format shared experts are to be quantized to, and which kinds of checkpoints are stored alike."""

from collections.abc import Iterator
from dataclasses import dataclass

from fse_core.plugged import stored as headers
from fse_core.plugged.options import ONLINE, Options
from fse_core.quantization import keys
from fse_core.quantization.inc import PACKED_MXFP4
from fse_core.quantization.storage import FP8_BLOCK, FP8_CHANNEL, MXFP4, MXFP8, PLAIN, Storage, Stored
from fse_core.report import Layer
from fse_core.rules.base import Facts, PartFacts

_FORMATS = {MXFP4: "mxfp4", PACKED_MXFP4: "mxfp4", MXFP8: "mxfp8", FP8_BLOCK: "fp8_block"}
_READERS = {
    "mxfp4": ("QuarkConfig", "INCConfig"),
    "mxfp8": ("ModelOptMxFp8Config", "QuarkConfig"),
    "fp8_block": ("Fp8Config",),
}
"""The classes whose routed experts' tensors are those of the format. No MXFP6 is among them."""


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What somebody asked for: the format, and who asked, in the words of the summary.

    packed, lossy: see Plan. native: the release takes the request itself, and quantizes for the classes that it knows.
    """

    format: str
    asked: str
    packed: bool = False
    native: bool = False
    lossy: bool = False


def wished(
    facts: Facts, part: PartFacts, layers: tuple[Layer, ...], options: Options, seen: headers.Layers
) -> Wish | None:
    """What the shared experts are to be quantized to by the plugin, None where nobody asks for what can be."""
    if part.gate.overlay is not None and "online" in facts.release.branches:
        pattern = _target(facts, part, layers, "mxfp4")
        agreed = all(layer.decision.decision == "fused" for layer in part.layers)
        return Wish(format="mxfp4", asked=f"targets: {pattern}, mxfp4", native=True) if pattern and agreed else None
    if part.gate.class_name == "DeepseekV4FP8Config" and "lossy" in options.accept:
        return Wish(format="mxfp4", asked="FSE_ACCEPT: lossy", lossy=True) if headers.fp8_beside_fp4(seen) else None
    found = _stored(facts, part, layers, seen)
    if len(found) != 1 or found[0].shared != PLAIN:
        return None
    wanted = _FORMATS.get(found[0].routed)
    name = part.gate.class_name
    if wanted is None or name not in _READERS[wanted]:
        return None
    packed = name == "INCConfig"
    pattern = _target(facts, part, layers, wanted)
    if pattern is not None:
        return Wish(format=wanted, asked=f"targets: {pattern}, {wanted}", packed=packed)
    return Wish(format=wanted, asked=f"{ONLINE}: {wanted}", packed=packed) if wanted in options.online else None


def alike(facts: Facts, part: PartFacts, layers: tuple[Layer, ...]) -> str | None:
    """The kind of a checkpoint whose routed and shared experts are stored alike, by its name in FSE_ACCEPT."""
    found = _stored(facts, part, layers, ())
    if len(found) != 1 or found[0].routed != found[0].shared:
        return None
    match part.gate.class_name:
        case "CompressedTensorsConfig" if found[0].routed in (FP8_BLOCK, FP8_CHANNEL):
            return "compressed-tensors"
        case "QuarkConfig" if found[0].routed == PLAIN:
            return "quark-excluded"
    return None


def _stored(facts: Facts, part: PartFacts, layers: tuple[Layer, ...], seen: headers.Layers) -> list[Stored]:
    """How the layers are stored, each way once; none where one of them cannot be told."""
    if seen and part.gate.class_name == "INCConfig":
        return list(_auto_round(facts, seen))
    found: dict[tuple[Storage, Storage], Stored] = {}
    for layer in layers:
        one = facts.stored(part, layer)
        if one is None:
            return []
        found[one.routed, one.shared] = one
    return list(found.values())


def _auto_round(facts: Facts, seen: headers.Layers) -> Iterator[Stored]:
    """auto-round's block tells the format, and the headers what was left in full precision, said or not."""
    block = facts.model.quantization
    assert block is not None
    fields = block.fields.raw
    family = str(fields.get("data_type", ""))
    mxfp4 = fields.get("bits") == 4 and fields.get("group_size") == 32 and family.startswith("mx_fp")
    if mxfp4 and seen and headers.full_precision(seen):
        yield Stored(routed=MXFP4, shared=PLAIN)


def _target(facts: Facts, part: PartFacts, layers: tuple[Layer, ...], format: str) -> str | None:
    """The overlay's pattern, where it asks for the format and the release itself does not see to it."""
    overlay = part.gate.overlay
    if overlay is None or not overlay.targets or format != "mxfp4":
        return None
    for layer in layers:
        question = facts.question(part, layer)
        found = [overlay.linear_keys(name, question) for name in question.projections]
        if any(one is None or one[0] != keys.MXFP4_STATIC for one in found):
            return None
    return next((pattern for pattern, value in overlay.targets.items() if value == format), None)
