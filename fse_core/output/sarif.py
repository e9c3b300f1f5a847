"""`sarif`: SARIF 2.1.0, for code scanning. One result for each finding and source, however many targets there are."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from fse_core.output import Format, Run, Style
from fse_core.output.words.files import uri
from fse_core.output.words.results import Result, results
from fse_core.report import Place, Report, Severity
from fse_core.ruletext import RuleText
from fse_core.version import __version__

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "info": "note"}


def _render(reports: Sequence[Report], style: Style) -> str:
    found = results(reports, ignored=True)
    rules = [rule for rule in style.run.rules if any(result.rule == rule.id for result in found)]
    numbers = {rule.id: number for number, rule in enumerate(rules)}
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "fse",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(style.run)],
        "results": [_result(result, numbers) for result in found],
    }
    provenance = _provenance(reports)
    if provenance:
        run["versionControlProvenance"] = provenance
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _rule(rule: RuleText) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": " ".join(rule.paragraphs)},
        "help": {"text": "\n\n".join(rule.paragraphs), "markdown": rule.text.strip()},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"precision": "very-high" if rule.confidence == "certain" else "medium"},
    }


def _invocation(run: Run) -> dict[str, Any]:
    said = [
        {"level": "error", "message": {"text": words if source in words else f"{source}: {words}"}}
        for source, words in run.unread
    ]
    return {"executionSuccessful": not said, "toolExecutionNotifications": said}


def _result(result: Result, numbers: dict[str, int]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "ruleId": result.rule,
        "level": _LEVELS[result.severity],
        "message": {"text": "\n".join(result.lines)},
        "locations": [_location(place, result) for place in result.places[:1]]
        or [{"logicalLocations": _names(result)}],
        "relatedLocations": [{"id": number, **_physical(place)} for number, place in enumerate(result.places[1:], 1)],
        "partialFingerprints": {"fse/v1": result.fingerprint},
        "properties": {
            "name": result.name,
            "confidence": result.confidence,
            "consequence": result.consequence,
            "part": result.part,
            "layers": result.layers,
            "targets": result.targets,
            "evidence": list(result.evidence),
            "fixes": [asdict(fix) for fix in result.fixes],
        },
    }
    if result.rule in numbers:
        made["ruleIndex"] = numbers[result.rule]
    if result.ignored is not None:
        made["suppressions"] = [{"kind": "external", "status": "accepted", "justification": result.ignored.reason}]
    return made


def _location(place: Place, result: Result) -> dict[str, Any]:
    pointer = [{"fullyQualifiedName": place.pointer, "kind": "value"}] if place.pointer else []
    return {**_physical(place), "logicalLocations": [*_names(result), *pointer]}


def _physical(place: Place) -> dict[str, Any]:
    name, from_here = uri(place)
    artifact = {"uri": name, "uriBaseId": "%SRCROOT%"} if from_here else {"uri": name}
    region = {"startLine": place.line, "startColumn": place.column} if place.line is not None else None
    return {"physicalLocation": {"artifactLocation": artifact, **({"region": region} if region else {})}}


def _names(result: Result) -> list[dict[str, str]]:
    """What the modules are called, all layers in one; the model where it is about no layer."""
    names = {layer.shared.replace(f".{layer.index}.", f".[{result.layers}].", 1): None for layer in result.own_layers()}
    if names:
        return [{"fullyQualifiedName": name, "kind": "module"} for name in names]
    return [{"fullyQualifiedName": result.report.source.id, "kind": "module"}]


def _provenance(reports: Sequence[Report]) -> list[dict[str, str]]:
    """The Hub's repositories and the commits of them that were read."""
    sources = dict.fromkeys(report.source for report in reports if report.source.kind == "hub")
    return [
        {
            "repositoryUri": f"https://huggingface.co/{source.id}",
            **({"revisionId": source.commit} if source.commit else {}),
        }
        for source in sources
    ]


FORMAT: Format[Report] = Format(
    summary="SARIF 2.1.0 for code scanning", render=_render, needs=frozenset({"places", "run"})
)
