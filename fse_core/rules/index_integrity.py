"""Files, index and tensors do not fit together: something that the model needs is not there, or not to be read.

A release loads the files that the index names, and of each all that it holds. From 0.26.0 on it refuses to start where
such a file is missing. What is lost otherwise it does not miss: a file that the index does not name is not opened, and
the experts whose tensors it holds stay whatever was in memory, for the fused parameters that they are a part of are
loaded as far as all else is concerned.

A draft of which nothing is stored at all, as many quantized checkpoints have it, is a warning: it concerns speculative
decoding alone. DeepSeek's draft then ends loading in a ValueError; GLM-4.x's and Qwen's run on what was in memory where
the model is quantized, so that what they draft is rejected.

Only the headers of the safetensors files show it: this rule is silent without `--headers`.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from fse_core.report import Confidence, Consequence, Layer, Severity
from fse_core.rules import told
from fse_core.rules.base import Facts, Hit, Rule

if TYPE_CHECKING:
    from fse_core.read.safetensors.facts import Headers, Problem, ProblemKind

RULE = Rule(id="FSE130", name="index-integrity", about_slots=True)

_TOLD: Final[Mapping["ProblemKind", tuple[Severity, Confidence, Consequence, str]]] = {
    "unreadable_file": ("error", "certain", "load_fails", "Loading ends with the error of its reader."),
    "no_files": ("warning", "likely", "load_fails", "Loading ends where there is no file of another kind, either."),
    "missing_tensor": ("warning", "likely", "silent_corruption", "What is not there stays as it was in memory."),
    "stray_file": ("info", "certain", "none", "What it holds is lost."),
    "doubled_tensor": ("warning", "certain", "none", "The one that is read last is what the model gets."),
    "unlisted_tensor": ("info", "certain", "none", "They are loaded all the same, and the index is not true."),
    "misplaced_tensor": ("info", "certain", "none", "They are loaded all the same, and the index is not true."),
}


_UNSEEN: Final["frozenset[ProblemKind]"] = frozenset({"no_files", "missing_file", "unreadable_file"})
"""What says already why experts are not seen."""


def check(facts: Facts) -> Iterator[Hit]:
    """Experts that are not there, layer by layer, and what the files are lacking as a whole."""
    yield from told.hits(facts, RULE.id)
    headers = facts.model.headers
    for problem in () if headers is None else headers.problems:
        if problem.kind == "missing_file":
            yield _missing(facts, problem)
        elif problem.kind in _TOLD and not _of_experts(problem):
            severity, confidence, consequence, then = _TOLD[problem.kind]
            yield _hit(facts, problem, severity, confidence, consequence, then)
    if headers is not None and not any(problem.kind in _UNSEEN for problem in headers.problems):
        yield from _nothing_seen(facts, headers)


def _nothing_seen(facts: Facts, headers: "Headers") -> Iterator[Hit]:
    """Where no header tells of any of the layers, nothing was compared, which is not to pass for nothing wrong."""
    layers = next((part.layers for part in facts.parts if part.part.part == "target"), ())
    seen = {head.rpartition(".")[2] for head in headers.by_head}
    if layers and not any(str(layer.index) in seen for layer in layers):
        held = f"files: {len(headers.files)}, tensors: {len(headers.tensors)}"
        what = f"shows no expert of its layers by a name that is known here ({held}), and so nothing was compared"
        from fse_core.read.safetensors.facts import Problem

        problem = Problem(kind="missing_tensor", file="", message=what)
        yield _hit(facts, problem, *_TOLD["missing_tensor"])


def _missing(facts: Facts, problem: "Problem") -> Hit:
    """Without an index nothing tells the release that a file should be there."""
    headers = facts.model.headers
    refuses = facts.release.has("refuses_missing_files") and headers is not None and headers.listed is not None
    if refuses:
        return _hit(facts, problem, "error", "certain", "load_fails", "Loading ends in a FileNotFoundError.")
    complete = headers is not None and headers.complete
    known = complete and any(facts.loading(part, layer) for part in facts.parts for layer in part.layers)
    consequence: Consequence = "none" if known else "silent_corruption"
    then = f"vLLM {facts.release.version} does not miss it, and what it holds stays as it was in memory."
    return _hit(facts, problem, "error", "certain" if known else "likely", consequence, then)


def _of_experts(problem: "Problem") -> bool:
    """Whether all that is told of is told layer by layer."""
    from fse_core.read.safetensors.names import role_of

    return problem.kind == "missing_tensor" and all(role_of(name) for name in problem.tensors)


def _hit(
    facts: Facts, problem: "Problem", severity: Severity, confidence: Confidence, consequence: Consequence, then: str
) -> Hit:
    layers: tuple[Layer, ...] = ()
    if consequence != "none":
        layers = next((part.layers for part in facts.parts if part.part.part == "target"), ())
    about = f"{problem.file or 'The checkpoint'} {problem.message}"
    if problem.kind == "no_files":
        about = "There is no safetensors file, and so nothing was compared"
    return Hit(
        message=f"{about}. {then}",
        consequence=consequence,
        severity=severity,
        confidence=confidence,
        layers=layers,
        evidence=(problem.file, *problem.tensors[:3]) if problem.file else problem.tensors[:3],
    )
