"""`markdown`: to paste into an issue or a pull request that raises the release."""

from collections.abc import Iterator, Sequence

from fse_core.diff import Diff
from fse_core.grouping import layer_words, words
from fse_core.output import Format, Style
from fse_core.output.words.diff import (
    layer_answer,
    outcome_words,
    sentences,
    sides,
    steps_head,
    targets_words,
    whole,
)
from fse_core.output.words.markdown import code, plain, table
from fse_core.output.words.source import model_words, source_words
from fse_core.report import Finding, Layer


def _render(diffs: Sequence[Diff], style: Style) -> str:
    return "\n\n".join("\n".join(_lines(diff)) for diff in diffs) + "\n"


def _lines(diff: Diff) -> Iterator[str]:
    yield f"### {plain(source_words(diff.new.source))}"
    yield ""
    yield f"{plain(model_words(diff.new.architecture, diff.new.layer_count))}; {plain(targets_words(diff))}."
    yield ""
    yield f"**{plain(outcome_words(diff))}**"
    for section in (_wholes, _layers, _findings, _steps):
        lines = list(section(diff))
        yield from ("", *lines) if lines else ()


def _layers(diff: Diff) -> Iterator[str]:
    rows = (
        [layer_words(change.part, change.indices), change.words, _answer(change.old), _answer(change.new)]
        for change in diff.changes
    )
    if diff.changes:
        yield from table(["layers", "change", *sides(diff)], rows)
    if any(change.alike for change in diff.changes):
        yield from ("", "Where the words name a layer, each layer has its own number.")


def _answer(layer: Layer | None) -> str:
    said = "" if layer is None else words(layer)
    return layer_answer(layer) + (f": {code(said)}" if said else "")


def _wholes(diff: Diff) -> Iterator[str]:
    for name, report in zip(sides(diff), (diff.old, diff.new), strict=True):
        yield from (f"- {name} {plain(' '.join(text.split()))}" for text in whole(report))


def _findings(diff: Diff) -> Iterator[str]:
    for label, findings in (("new", diff.appeared), ("gone", diff.gone)):
        yield from (f"- {label} {finding.severity} {_finding(finding)}" for finding in findings)


def _finding(finding: Finding) -> str:
    where = f", layers {finding.layers}" if finding.layers else ""
    return f"{finding.rule} {finding.name}{where}: {plain(finding.message)}"


def _steps(diff: Diff) -> Iterator[str]:
    if diff.steps:
        yield from (f"T{steps_head(diff)[1:]}:", "")
    for step in diff.steps:
        yield from (f"- {step.vllm}: {plain(sentence)}" for sentence in sentences(step))


FORMAT: Format[Diff] = Format(summary="to paste into an issue or a pull request", render=_render)
