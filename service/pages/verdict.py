"""The verdict in one plain sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fse_core.report import PartName
from service.pages import explain
from service.pages.layers import Answer, Layers, State, layers_of

SHORT: Mapping[str, tuple[str, State]] = {
    "fuses": ("fuses", "fused"),
    "separate": ("separate", "separate"),
    "breaks": ("breaks", "breaks"),
    "fails": ("does not start", "error"),
    "not_applicable": ("nothing to fuse", "none"),
    "undecided": ("undecided", "undecided"),
}
"""A verdict in a word or two, and the state that its icon shows."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """`word` and `state` for a badge, `sentence` for a reader."""

    word: str
    state: State
    sentence: str


def verdict_of(report: Mapping[str, Any], layers: Layers | None = None) -> Verdict:
    """The verdict of an `fse.report/1` object."""
    word, state = SHORT[report["verdict"]]
    return Verdict(word=word, state=state, sentence=_sentence(report, layers or layers_of(report)))


def place(target: Mapping[str, Any]) -> str:
    """`on gfx942 with tp 8`."""
    sizes = [f"{key} {target[key]}" for key in ("tp", "dp", "pcp", "pp") if key == "tp" or target[key] != 1]
    return f"on {target['gfx']} with {', '.join(sizes)}{' and expert parallelism' if target['ep'] else ''}"


def _sentence(report: Mapping[str, Any], layers: Layers) -> str:
    release, where = f"vLLM {report['target']['vllm']}", place(report["target"])
    match report["verdict"]:
        case "fuses":
            return f"{release} fuses the shared expert in {_counted(layers, 'fused')}{_draft(layers)} {where}."
        case "separate":
            because = _because(layers, "separate")
            return f"{release} keeps the shared expert apart in {_counted(layers, 'separate')} {where}{because}."
        case "breaks":
            counted = _counted(layers, "breaks")
            return f"{release} would fuse the shared expert in {counted} {where}, and loading the weights goes wrong."
        case "fails":
            return f"{release} does not start with this model {where}, because {_failure(report).because}."
        case "not_applicable":
            return "There is nothing to fuse: no layer of this model has a shared expert beside routed ones."
        case _:
            return f"We cannot tell what {release} does with this model, and we do not guess."


def _failure(report: Mapping[str, Any]) -> explain.Explanation:
    errors = [layer["error"] for layer in report["layers"] if layer["error"]]
    failure = report["startup_error"] or errors[0]
    return explain.error(failure["type"], failure["message"], report["target"]["vllm"])


def _counted(layers: Layers, state: State, part: PartName = "target") -> str:
    total = sum(answer.count for answer in layers.answers if answer.part == part and answer.state != "none")
    count, kind = layers.count(state, part), "draft" if part == "draft" else "MoE"
    if total == 1:
        return f"the {kind} layer"
    return f"all {total} {kind} layers" if count == total else f"{count} of {total} {kind} layers"


def _draft(layers: Layers) -> str:
    if not any(answer.part == "draft" for answer in layers.answers):
        return ""
    if layers.count("fused", "draft"):
        return f" and in {_counted(layers, 'fused', 'draft')}"
    return " but not in the draft"


def _because(layers: Layers, state: State) -> str:
    """The reason, where all layers of the target share one; a sentence cannot hold several."""
    answers = [answer for answer in layers.answers if (answer.part, answer.state) == ("target", state)]
    return f", because {answers[0].explanation.because}" if _one(answers) else ", for more than one reason"


def _one(answers: list[Answer]) -> bool:
    return len({answer.explanation.because for answer in answers}) == 1
