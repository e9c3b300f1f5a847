"""The verdict in one plain sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fse_core.matrix import NO_CLASS
from fse_core.report import PartName
from service.doubt import AT_RISK, doubtful, has_error
from service.pages import explain
from service.pages.layers import FUSED, Answer, Layers, State, layers_of

SHORT: Mapping[str, tuple[str, State]] = {
    "fuses": ("fuses", "fused"),
    AT_RISK: (AT_RISK, "risky"),
    "separate": ("separate", "separate"),
    "breaks": ("breaks", "breaks"),
    "fails": ("does not start", "error"),
    "not_applicable": ("nothing to fuse", "none"),
    "undecided": ("undecided", "undecided"),
}
"""A verdict in a word or two, and the state that its icon shows."""


_CONSEQUENCES: Mapping[str, str] = {
    "load_fails": "loading the weights fails",
    "silent_corruption": "its weights are then silently wrong",
    "start_fails": "the start fails",
}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """`word` and `state` for a badge, `sentence` for a reader."""

    word: str
    state: State
    sentence: str


def verdict_of(report: Mapping[str, Any], layers: Layers | None = None) -> Verdict:
    """The verdict of an `fse.report/1` object."""
    word, state = _word(report)
    return Verdict(word=word, state=state, sentence=_sentence(report, layers or layers_of(report)))


def _word(report: Mapping[str, Any]) -> tuple[str, State]:
    if NO_CLASS in (report["undecided_reason"] or ""):
        return "not in this release", "none"
    return SHORT[AT_RISK if doubtful(report) else report["verdict"]]


def place(target: Mapping[str, Any]) -> str:
    """`on gfx942 with tp 8`."""
    sizes = [f"{key} {target[key]}" for key in ("tp", "dp", "pcp", "pp") if key == "tp" or target[key] != 1]
    return f"on {target['gfx']} with {', '.join(sizes)}{' and expert parallelism' if target['ep'] else ''}"


def _sentence(report: Mapping[str, Any], layers: Layers) -> str:
    release, where = f"vLLM {report['target']['vllm']}", place(report["target"])
    match report["verdict"]:
        case "fuses":
            fused = f"{_counted(layers, *FUSED)}{_draft(layers)}"
            return f"{release} fuses the shared expert in {fused} {where}{_wrong(report)}."
        case "separate":
            because = _because(layers, "separate")
            apart = _counted(layers, "separate")
            return f"{release} keeps the shared expert apart in {apart} {where}{because}{_wrong(report)}."
        case "breaks":
            fused = _counted(layers, *FUSED)
            return f"{release} would fuse the shared expert in {fused} {where}, and {_broken(report, layers)}."
        case "fails":
            return f"{release} does not start with this model {where}, because {_failure(report).because}."
        case "not_applicable":
            return "There is nothing to fuse: no layer of this model has a shared expert beside routed ones."
        case _ if NO_CLASS in (report["undecided_reason"] or ""):
            return f"{release} {NO_CLASS} {report['model']['architecture']}, and we do not guess what it does instead."
        case _:
            return f"We cannot tell what {release} does with this model, and we do not guess."


def _failure(report: Mapping[str, Any]) -> explain.Explanation:
    errors = [layer["error"] for layer in report["layers"] if layer["error"]]
    failure = report["startup_error"] or errors[0]
    return explain.error(failure["type"], failure["message"], report["target"]["vllm"])


def _wrong(report: Mapping[str, Any]) -> str:
    """That something goes wrong, where the verdict does not say so."""
    return ", but see the findings for what goes wrong" if has_error(report) else ""


def _broken(report: Mapping[str, Any], layers: Layers) -> str:
    """What comes of it, and in how many of the layers where not in all."""
    certain = [f for f in report["findings"] if (f["severity"], f["confidence"]) == ("error", "certain")]
    found = {finding["consequence"] for finding in certain}
    words = _CONSEQUENCES[found.pop()] if len(found) == 1 and found <= _CONSEQUENCES.keys() else "that goes wrong"
    broken, fused = layers.count("breaks"), layers.count(*FUSED)
    return words if broken in (0, fused) else f"in {broken} of them {words}"


def _counted(layers: Layers, *states: State, part: PartName = "target") -> str:
    total = sum(answer.count for answer in layers.answers if answer.part == part and answer.state != "none")
    count, kind = layers.count(*states, part=part), "draft" if part == "draft" else "MoE"
    if total == 1:
        return f"the {kind} layer"
    return f"all {total} {kind} layers" if count == total else f"{count} of {total} {kind} layers"


def _draft(layers: Layers) -> str:
    if not any(answer.part == "draft" for answer in layers.answers):
        return ""
    if layers.count(*FUSED, part="draft"):
        return f" and in {_counted(layers, *FUSED, part='draft')}"
    return " but not in the draft"


def _because(layers: Layers, state: State) -> str:
    """The reason, where all layers of the target share one; a sentence cannot hold several."""
    answers = [answer for answer in layers.answers if (answer.part, answer.state) == ("target", state)]
    return f", because {answers[0].explanation.because}" if _one(answers) else ", for more than one reason"


def _one(answers: list[Answer]) -> bool:
    return len({answer.explanation.because for answer in answers}) == 1
