"""What an answer of the release says about each layer, and whether what ended it has to do with fusion."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

Raw = Mapping[str, Any]
Key = tuple[str, str]
"""A layer: its part, and the prefix of its routed experts."""

DECLINED = re.compile(r"VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS is ignored for [^:]+: (?P<reasons>.+?)\. AITER has ")
ABOUT_FUSION = re.compile(r"[Ff]used shared experts|fusion shared expert")
SET = re.compile(r"\{('[^{}]*')\}")
QUANTIZATION_PATHS = (
    "config/quantization.py",
    "model_executor/layers/quantization/",
    "get_quant_config",
    "_verify_quantization",
    "_get_quantization_config",
    "configure_quant_config",
    "_parse_quant",
    "model_arch_config_convertor.py",
)


@dataclass(frozen=True, kw_only=True)
class Said:
    """What the release did with one layer. `slots` is None where it stopped before building the experts.

    `silent` says that the answer does not tell whether the release gave a reason, or which.
    """

    decision: str
    reason: str | None = None
    error: tuple[str, str] | None = None
    slots: int | None = None
    silent: bool = False

    def shown(self) -> str:
        if self.error:
            return f"error {self.error[0]}: {self.error[1]}"
        return self.decision if self.reason is None else f"{self.decision} ({self.reason})"


def sorted_sets(text: str) -> str:
    """The message with the members of the sets that it shows in order: Python prints them in any."""
    return SET.sub(lambda match: "{" + ", ".join(sorted(match[1].split(", "))) + "}", text)


def declined(answer: Raw) -> str | None:
    """The reasons that the model class logged when it declined after the gate had said yes."""
    found = (DECLINED.search(warning["message"]) for warning in answer["warnings"] or [])
    return next((match["reasons"] for match in found if match), None)


def layers(answer: Raw) -> dict[Key, Said]:
    """Every layer about which the release decided, or whose experts it built."""
    built = {(row["part"], row["module"]): row["slots"] for row in answer["built"]}
    said = {key: Said(decision="fused" if slots else "separate", slots=slots) for key, slots in built.items()}
    reasons = declined(answer)
    for entry in answer["decisions"]:
        key = entry["part"], entry["experts"]
        if entry["compatible"] and built.get(key) == 0 and _has_none(key, answer):
            said.pop(key)
            continue
        said[key] = _decided(entry, built.get(key), reasons)
        if answer["warnings"] is None and entry["compatible"] and said[key].decision == "separate":
            said[key] = replace(said[key], silent=True)
    return said


def _has_none(key: Key, answer: Raw) -> bool:
    """The model was built, and that layer has no slot and no module: no shared experts, though the gate was asked."""
    part, experts = key
    whole = answer["fused"][part] is not None
    return whole and not any(row["part"] == part and row["experts"] == experts for row in answer["separate"])


def _decided(entry: Raw, slots: int | None, declined: str | None) -> Said:
    if entry["error"]:
        return Said(decision="error", error=(entry["error"]["type"], entry["error"]["message"]))
    if not entry["compatible"]:
        return Said(decision="separate", reason=entry["reason"], slots=slots)
    if slots == 0 or (slots is None and declined):
        return Said(decision="separate", reason=declined, slots=slots)
    return Said(decision="fused", slots=slots)


def startup_error(answer: Raw) -> tuple[str, str] | None:
    """What ended the start, where that is no layer's error; of a validation error, what stands before its input."""
    error = ended_by(answer)
    if error is None or any(entry["error"] for entry in answer["decisions"]):
        return None
    return error["type"], error["message"].partition(" [type=")[0]


def ended_by(answer: Raw) -> Raw | None:
    """The error that ended the build: the target's, or what its draft raised while it was built."""
    draft: Raw | None = answer.get("draft_error")
    error: Raw | None = answer["error"]
    return error or (draft if draft and draft["stage"] == "draft" else None)


def raised_in(answer: Raw, key: Key) -> tuple[str, str] | None:
    """What the class raised after the gate's answer for that layer and before it built the experts."""
    decisions = answer["decisions"]
    last = decisions and (decisions[-1]["part"], decisions[-1]["experts"]) == key
    built = any((row["part"], row["module"]) == key for row in answer["built"])
    return startup_error(answer) if last and not built else None


def is_about_fusion(answer: Raw) -> bool:
    """Whether what ended the start lies on the way to the decisions: the quantization class, the overlay, the gate."""
    error = ended_by(answer)
    if error is None or error["type"] in ("ImportError", "ModuleNotFoundError"):
        return False
    if any(entry["error"] for entry in answer["decisions"]) or ABOUT_FUSION.search(error["message"]):
        return True
    where = " ".join([*error["where"], *(error.get("cause") or {}).get("where", [])])
    early = error["stage"] in ("config", "class") or "configure_quant_config" in where
    return early and any(path in where for path in QUANTIZATION_PATHS)
