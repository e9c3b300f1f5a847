"""`markdown`: the page `docs/releases.md`, which is made of this and nothing else."""

from collections.abc import Iterator, Sequence

from fse_core.output import Format, Style
from fse_core.output.words.markdown import code, plain, table
from fse_core.output.words.releases import (
    NO_GATE,
    NOTHING,
    default_words,
    delta_words,
    fault_words,
    gpu_words,
    new_in,
)
from fse_core.releases.history import Entry
from fse_core.releases.release import Release

_HEAD = """\
# What changed when

<!-- Made from fse_core/releases/*.toml: do not edit, run `make docs`. -->

What each vLLM release on ROCm does about fusing shared experts, as far as fse knows. A release whose gate has no
questions fuses without asking how the shared expert is quantized: what then breaks is a finding of `fse check`.
"""


def _render(entries: Sequence[Entry], style: Style) -> str:
    return "\n".join(_lines(entries)) + "\n"


def _lines(entries: Sequence[Entry]) -> Iterator[str]:
    yield _HEAD
    yield from table(
        ["vLLM", "classes that fuse", "gate's questions", "fusion by default", "GPUs with AITER", "known faults"],
        map(_cells, (entry.release for entry in entries)),
    )
    for entry in reversed(entries):
        yield from ("", f"## {entry.release.version}", "")
        yield from _release(entry)


def _cells(release: Release) -> list[str]:
    link = f"[{release.version}](#{release.version.replace('.', '')})"
    gate = ", ".join(map(code, release.branches)) or "none"
    counts = (str(len(release.wired)), gate, default_words(release), gpu_words(release), str(len(release.faults)))
    return [link, *counts]


def _release(entry: Entry) -> Iterator[str]:
    release = entry.release
    lines = [f"- {plain(sentence)}" for sentence in release.changes]
    lines += [f"- {plain(delta_words(delta))}" for delta in new_in(entry.before, release)]
    if entry.before is None:
        lines.append(f"- gate: {NO_GATE}")
        lines.append(f"- classes that fuse: {', '.join(map(code, sorted(release.wired)))}")
        lines += [f"- default: {code(f'{name}={value}')}" for name, value in release.environment.items()]
    yield from lines or [f"{NOTHING.capitalize()}."]
    if release.faults:
        yield from ("", "Known faults:", "")
        yield from (f"- {plain(name)}: {plain(fault_words(fault))}" for name, fault in release.faults.items())


FORMAT: Format[Entry] = Format(summary="the page What changed when", render=_render)
