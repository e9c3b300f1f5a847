"""One model on two releases: what changes for it, and with which of the releases between."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fse_core import releases
from fse_core.check import check
from fse_core.diff import Diff, Step, diff
from fse_core.errors import InputError
from fse_core.report import Report
from fse_core.target import Target
from fse_core.wording import nameless

if TYPE_CHECKING:
    from fse_core.read.model import Model


def upgrade(model: "Model", target: Target, old: str, new: str) -> Diff:
    """The model on release `old` beside `new`, which may be the older one, otherwise served as `target` says.

    InputError where one is no release, or does not take an option of the target.
    """
    first, second = (check(model, replace(target, vllm=version)) for version in (old, new))
    start, end = (releases.known().index(report.target["vllm"]) for report in (first, second))
    names = releases.known()[min(start, end) : max(start, end) + 1]
    between = tuple(_reports(model, target, names))
    late = any(report.out_of_time for _, report in between)
    found = diff(first, second, steps=_steps(between), back=end < start)
    return replace(found, out_of_time=found.out_of_time or late)


def _reports(model: "Model", target: Target, names: Sequence[str]) -> Iterator[tuple[str, Report]]:
    for name in names:
        try:
            yield name, check(model, replace(target, vllm=name))
        except InputError:  # it lacks an option that both ends have
            continue


def _steps(reports: Sequence[tuple[str, Report]]) -> Iterator[Step]:
    """Those of the releases, which follow each other, that answer otherwise than the one before."""
    before: Report | None = None
    for name, report in reports:
        if before is not None and not _alike(before, report):
            yield Step(vllm=name, sentences=releases.load(name).changes)
        before = report


def _alike(before: Report, report: Report) -> bool:
    """Whether a reader would be told the same."""
    if before.verdict == report.verdict == "undecided":
        return _why(before) == _why(report)
    return diff(before, report).outcome == "same"


def _why(report: Report) -> str:
    return nameless(report.undecided_reason or "", report)
