"""What loading does with a shared expert that is stored in one way and has a slot made for another."""

from dataclasses import dataclass

from fse_core.quantization.storage import INT8, PLAIN, Storage
from fse_core.report import Confidence, Consequence

_CERTAIN: Confidence = "certain"
_LIKELY: Confidence = "likely"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """`words` say how it comes about."""

    consequence: Consequence
    confidence: Confidence
    words: str


def outcome(slot: Storage, stored: Storage, *, skips: bool = False) -> Outcome:
    """Loaders find a parameter by its name and copy what fits, of whatever type it is.

    `skips`: the class passes over a tensor that has no parameter.
    """
    if slot == PLAIN and skips and stored.weight == "byte":
        words = f"{stored.name} numbers are copied into 16-bit ones, and their scales are dropped without a word"
        return Outcome(consequence="silent_corruption", confidence=_LIKELY, words=words)
    if slot == PLAIN:
        words = f"a 16-bit slot has no parameter for the scales that {stored.name} weights come with: KeyError"
        return Outcome(consequence="load_fails", confidence=_CERTAIN, words=words)
    if stored != PLAIN:
        words = f"{stored.name} weights do not fit a slot made for {slot.name}"
        return Outcome(consequence="load_fails", confidence=_LIKELY, words=words)
    if slot.weight == "elsewhere":
        words = f"a slot made for {slot.name} has no parameter for a 16-bit weight: KeyError"
        return Outcome(consequence="load_fails", confidence=_CERTAIN, words=words)
    if slot.weight == "packed":
        words = f"{slot.name} packs two numbers into a byte, so that a 16-bit weight is twice as wide: RuntimeError"
        return Outcome(consequence="load_fails", confidence=_CERTAIN, words=words)
    kind, confidence = ("INT8", _LIKELY) if slot == INT8 else ("FP8", _CERTAIN)  # INT8 was not measured
    words = (
        f"16-bit numbers are copied into {kind} ones without a word, and the slot's scales stay whatever was in memory"
    )
    return Outcome(consequence="silent_corruption", confidence=confidence, words=words)
