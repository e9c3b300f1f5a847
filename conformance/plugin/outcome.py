"""What came of a start, in a few words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_LONGEST = 50


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """`sound`: the release built and loaded it, and every byte was written. `fused`: how many layers have slots."""

    sound: bool
    fused: int
    layers: int
    words: str

    @property
    def text(self) -> str:
        """The outcome on one line."""
        return f"{'fused' if self.fused else 'separate'}, {self.words}" if self.layers else self.words


def outcome(answer: Mapping[str, Any]) -> Outcome:
    """The outcome of one answer."""
    slots = {name: count for name, count in answer["slots"].items() if name.endswith(".routed_experts")}
    fused = sum(count > 0 for count in slots.values())
    words, sound = _words(answer)
    return Outcome(sound=sound, fused=fused, layers=len(slots), words=words)


def _words(answer: Mapping[str, Any]) -> tuple[str, bool]:
    error = answer["error"]
    if error is not None:
        what = "load fails" if error["stage"] == "load" else "does not start"
        message = error["message"].splitlines()[0] if error["message"] else ""
        return f"{what}: {error['type']} {message[:_LONGEST]}".rstrip(), False
    unset = [
        f"{module.rpartition('.')[2]}.{name} {parameter['untouched']} of {_bytes(parameter)} bytes"
        for module, parameters in answer["loaded"].items()
        for name, parameter in parameters.items()
        if parameter["untouched"]
    ]
    if unset:
        return f"silently unset: {unset[0]}", False
    return "loads", True


def _bytes(parameter: Mapping[str, Any]) -> int:
    sizes = {"uint8": 1, "float8_e4m3fn": 1, "float8_e8m0fnu": 1, "bfloat16": 2, "float32": 4}
    total = sizes[parameter["dtype"]]
    for size in parameter["shape"]:
        total *= size
    return total
