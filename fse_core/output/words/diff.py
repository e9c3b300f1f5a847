"""What the formats of a diff for people share."""

from collections.abc import Iterator, Mapping
from typing import Any

from fse_core.diff import Change, Diff, Step
from fse_core.output.words.summary import served, summary, target_words
from fse_core.output.words.text import Tone
from fse_core.report import Layer, Report

TONES: Mapping[str, Tone] = {
    "same": "plain",
    "better": "good",
    "worse": "bad",
    "different": "warning",
    "undecided": "warning",
}


def sides(diff: Diff) -> tuple[str, str]:
    """What the two reports are called: their releases, where that tells them apart."""
    names = (str(diff.old.target["vllm"]), str(diff.new.target["vllm"]))
    return names if names[0] != names[1] else ("before", "after")


def targets_words(diff: Diff) -> str:
    """`vLLM 0.31.0 to 0.33.0, gfx942, tp 8`, or both targets where more than the release differs."""
    old, new = dict(diff.old.target), dict(diff.new.target)
    if old | {"vllm": None} != new | {"vllm": None}:
        return f"{target_words(old)}; then {target_words(new)}"
    rest = target_words(new).removeprefix(served(new))
    return f"{served(old)} to {new['vllm']}{rest}"


def layer_answer(layer: Layer | None) -> str:
    """One side's answer without the release's words."""
    if layer is None:
        return "no such layer"
    if layer.decision.decision == "undecided":
        return "not reached"
    if layer.decision.decision != "fused":
        return layer.decision.decision
    return f"fused, {layer.slots} slot{'' if layer.slots == 1 else 's'}, {layer.mode}"


def tone(change: Change) -> Tone:
    """How good the news is."""
    if change.worse:
        return "bad"
    return "good" if change.better else "plain"


def whole(report: Report) -> Iterator[str]:
    """What a report says of the model as a whole, in the release's words where it has any."""
    if report.startup_error is not None:
        with_draft = " with its draft" if report.startup_part == "draft" else ""
        yield f"does not start{with_draft}: {report.startup_error.type}: {report.startup_error.message}"
    if report.undecided_reason is not None:
        yield f"undecided: {report.undecided_reason}"
    if not report.requested:
        yield f"fusion is not requested: {report.requested_reason}"


def steps_head(diff: Diff) -> str:
    """What introduces the releases with which the answer changes."""
    if diff.back:
        return "the answer changes without these releases; what they had changed"
    return "the answer changes with these releases; what they changed"


def sentences(step: Step) -> tuple[str, ...]:
    """What a release changed, or that nothing is known that explains it."""
    return step.sentences or ("nothing is known that it changed about fusion itself",)


def outcome_words(diff: Diff) -> str:
    """The last line: the outcome, and both verdicts."""
    before, after = (_verdict(report) for report in (diff.old, diff.new))
    if diff.outcome == "same":
        return f"the same: {after}"
    return f"{diff.outcome}: {before}; {after}"


def _verdict(report: Report) -> str:
    target: dict[str, Any] = report.target
    words = summary(report)[0].partition(" on ")[0] if report.verdict != "undecided" else "undecided"
    return f"{served(target)} {words}"
