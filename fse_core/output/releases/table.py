"""`table`: for people. A line for each release and what it changed; one release alone is told in full."""

from collections.abc import Iterator, Sequence

from fse_core.output import Format, Style
from fse_core.output.words.releases import NOTHING, default_words, fault_words, gate_words, gpu_words
from fse_core.output.words.text import labelled, paint, wrapped
from fse_core.releases.history import Entry
from fse_core.releases.release import Release

_INDENT = 2
_DEEPER = 10
_HEAD = ("vLLM", "classes", "gate", "default", "faults", "GPUs")
_WIDTHS = (10, 9, 14, 9, 8)


def _render(entries: Sequence[Entry], style: Style) -> str:
    lines = _whole(entries[0], style) if len(entries) == 1 else _all(entries, style)
    return "\n".join(lines) + "\n"


def _all(entries: Sequence[Entry], style: Style) -> Iterator[str]:
    yield paint(_columns(_HEAD), "faint", style)
    for entry in entries:
        yield _columns(_cells(entry.release))
        for sentence in entry.release.changes:
            yield from wrapped(sentence, style, indent=_DEEPER)
        if entry.before is not None and entry.joined:
            yield from wrapped(f"+ {', '.join(entry.joined)}", style, indent=_DEEPER, tone="faint")
        if entry.left:
            yield from wrapped(f"- {', '.join(entry.left)}", style, indent=_DEEPER, tone="faint")
    yield ""
    for name, meaning in (
        ("classes", "how many of its model classes take part in fusion"),
        ("gate", "whether it asks how the shared expert is quantized before it fuses"),
        ("default", "the fusion variable where the environment does not set it"),
        ("faults", "how many things are known to go wrong"),
    ):
        yield from labelled(name, meaning, style, indent=0, column=9)


def _columns(cells: Sequence[str]) -> str:
    return "".join(f"{cell:<{width}}" for cell, width in zip(cells, _WIDTHS, strict=False)) + cells[-1]


def _cells(release: Release) -> tuple[str, ...]:
    count = len(release.branches)
    gate = f"{count} question{'' if count == 1 else 's'}" if count else "none"
    counts = (str(len(release.wired)), gate, default_words(release), str(len(release.faults)))
    return (release.version, *counts, gpu_words(release))


def _whole(entry: Entry, style: Style) -> Iterator[str]:
    release = entry.release
    yield from wrapped(f"vLLM {release.version}", style, tone="strong")
    for label, lines in _sections(entry):
        yield ""
        yield from wrapped(f"{label}:", style, indent=_INDENT, tone="faint")
        for line in lines:
            yield from wrapped(line, style, indent=_INDENT * 2)


def _sections(entry: Entry) -> Iterator[tuple[str, Sequence[str]]]:
    release = entry.release
    yield "what changed", release.changes or [NOTHING]
    if release.faults:
        yield "known faults", [f"{name}: {fault_words(fault)}" for name, fault in release.faults.items()]
    yield "gate", [gate_words(release)]
    own = [f"{question}: {', '.join(sorted(classes))}" for question, classes in sorted(release.own_branches.items())]
    if own:
        yield "questions of single classes", own
    yield "GPUs with AITER", [gpu_words(release)]
    yield "defaults of the environment", [f"{name}={value}" for name, value in release.environment.items()]
    yield f"classes that fuse ({len(release.wired)})", sorted(release.wired)
    yield "quantization methods on ROCm", [", ".join(sorted(release.supported))]
    if release.deprecated:
        yield "deprecated methods, refused unless allowed", [", ".join(sorted(release.deprecated))]
    for option, names in release.choices.items():
        if names:
            yield f"--{option.replace('_', '-')}", [", ".join(names)]


FORMAT: Format[Entry] = Format(summary="for people", render=_render)
