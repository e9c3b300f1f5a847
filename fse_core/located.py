"""A report whose findings say where in the files their evidence stands."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from fse_core.report import Finding, Place, Report

if TYPE_CHECKING:
    from fse_core.read.model import Document, Model

_COLON = ": "


def located(report: Report, model: "Model") -> Report:
    """The report with the places of its evidence; as it is where no file was read."""
    if not model.documents:
        return report
    wanted = {words for finding in report.findings for evidence in finding.evidence for words in _readings(evidence)}
    places: dict[str, Place] = {}
    for document in model.documents:
        places.update(_places(document, wanted))
    return replace(
        report,
        findings=tuple(replace(finding, places=tuple(_of(finding, places))) for finding in report.findings),
        config=Place(file=model.documents[0].file, line=1, column=1),
    )


def _readings(evidence: str) -> Iterator[str]:
    """All that the evidence may begin with a path as, the longest first.

    Evidence is a path, a path and a value, or a list's path and one of its entries; a file's name and a colon may stand
    before the path.
    """
    yield evidence
    end = evidence.rfind(_COLON)
    while end > 0:
        yield evidence[:end]
        end = evidence.rfind(_COLON, 0, end)


def _of(finding: Finding, places: dict[str, Place]) -> Iterator[Place]:
    seen = set()
    for evidence in finding.evidence:
        place = next((places[words] for words in _readings(evidence) if words in places), None)
        if place is not None and place not in seen:
            seen.add(place)
            yield place


def _places(document: "Document", wanted: set[str]) -> dict[str, Place]:
    """Those of the wanted paths that the document has, and lists' entries as `path: entry`."""
    from fse_core.read.positions import line_and_column, spans  # only now: a report without findings needs neither

    if not wanted:
        return {}
    text = document.data.decode("utf-8")
    found: dict[str, Place] = {}
    for span in spans(text, document.name):
        names = [span.path] if span.path in wanted else []
        if span.keys and isinstance(span.keys[-1], int) and text[span.value] == '"':
            owner = span.path[: span.path.rindex("[")]
            entry = f"{owner}{_COLON}{json.loads(text[span.value : span.end])}"
            names += [entry] if entry in wanted else []
        for name in names:
            line, column = line_and_column(text, span.start)
            found.setdefault(name, Place(file=document.file, pointer=span.pointer, line=line, column=column))
    return found
