"""`table`: for people. What happens to which layers in plain words, both releases' own words below."""

from collections.abc import Iterator, Sequence

from fse_core.diff import Change, Diff
from fse_core.grouping import layer_words, words
from fse_core.output import Format, Style
from fse_core.output.words.diff import (
    TONES,
    layer_answer,
    outcome_words,
    sentences,
    sides,
    steps_head,
    targets_words,
    tone,
    whole,
)
from fse_core.output.words.source import model_words, source_words
from fse_core.output.words.text import labelled, paint, wrapped
from fse_core.report import Finding, Layer

_INDENT = 2
_DEEPER = 6


def _render(diffs: Sequence[Diff], style: Style) -> str:
    return "\n\n".join("\n".join(_lines(diff, style)) for diff in diffs) + "\n"


def _lines(diff: Diff, style: Style) -> Iterator[str]:
    yield from wrapped(source_words(diff.new.source), style, tone="strong")
    yield from labelled("model", model_words(diff.new.architecture, diff.new.layer_count), style, indent=_INDENT)
    yield from labelled("target", targets_words(diff), style, indent=_INDENT)
    for section in (_wholes, _layers, _findings, _steps):
        lines = list(section(diff, style))
        yield from ("", *lines) if lines else ()
    yield ""
    yield from wrapped(outcome_words(diff), style, tone=TONES[diff.outcome])


def _layers(diff: Diff, style: Style) -> Iterator[str]:
    names = [layer_words(change.part, change.indices) for change in diff.changes]
    column = max(map(len, names), default=0)
    for name, change in zip(names, diff.changes, strict=True):
        yield " " * _INDENT + f"{name:<{column}}  {paint(change.words, tone(change), style)}"
        if change.changed:
            yield from _sides(diff, change, style)


def _sides(diff: Diff, change: Change, style: Style) -> Iterator[str]:
    column = max(map(len, sides(diff))) + 2
    for name, layer in zip(sides(diff), (change.old, change.new), strict=True):
        yield from labelled(name, layer_answer(layer), style, indent=_DEEPER, column=column)
        for line in _own_words(layer):
            yield from wrapped(line, style, indent=_DEEPER + column)
    if change.alike:
        yield from wrapped("(each layer with its own number)", style, indent=_DEEPER, tone="faint")


def _own_words(layer: Layer | None) -> list[str]:
    said = "" if layer is None else words(layer)
    return said.split("\n") if said else []


def _wholes(diff: Diff, style: Style) -> Iterator[str]:
    for name, report in zip(sides(diff), (diff.old, diff.new), strict=True):
        for text in whole(report):
            first, *rest = text.split("\n")
            yield from wrapped(f"{name} {first}", style, indent=_INDENT)
            for line in rest:
                yield from wrapped(line, style, indent=_DEEPER)


def _findings(diff: Diff, style: Style) -> Iterator[str]:
    for label, findings in (("new", diff.appeared), ("gone", diff.gone)):
        for finding in findings:
            yield from wrapped(f"{label} {finding.severity}: {_title(finding)}", style, indent=_INDENT)
            yield from wrapped(finding.message, style, indent=_DEEPER)


def _title(finding: Finding) -> str:
    where = f", layers {finding.layers}" if finding.layers else ""
    return f"{finding.rule} {finding.name}{where}"


def _steps(diff: Diff, style: Style) -> Iterator[str]:
    if not diff.steps:
        return
    yield from wrapped(f"{steps_head(diff)}:", style, indent=_INDENT)
    for step in diff.steps:
        for place, sentence in enumerate(sentences(step)):
            yield from labelled("" if place else step.vllm, sentence, style, indent=_DEEPER)


FORMAT: Format[Diff] = Format(summary="for people", render=_render)
