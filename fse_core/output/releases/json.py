"""`json`: the `fse.releases/1` object for programs."""

import json
from collections.abc import Sequence
from typing import Any

from fse_core.output import Format, Style
from fse_core.output.words.releases import default_words
from fse_core.releases.delta import deltas
from fse_core.releases.history import Entry
from fse_core.releases.release import Fault
from fse_core.version import __version__

SCHEMA = "fse.releases/1"


def releases_to_dict(entries: Sequence[Entry]) -> dict[str, Any]:
    """The `fse.releases/1` object: each release in full, with what differs from the one before it."""
    return {"schema": SCHEMA, "engine": __version__, "releases": [_release(entry) for entry in entries]}


def _release(entry: Entry) -> dict[str, Any]:
    release = entry.release
    return {
        "vllm": release.version,
        "before": None if entry.before is None else entry.before.version,
        "changes": list(release.changes),
        "gated": bool(release.branches),
        "gate": list(release.branches),
        "own_questions": {question: sorted(classes) for question, classes in release.own_branches.items()},
        "fusion_default": default_words(release) == "on",
        "environment": dict(release.environment),
        "gpus": sorted(release.fusing_gfx),
        "fnuz_gpus": sorted(release.fnuz_gfx),
        "classes": sorted(release.wired),
        "architectures": sorted(release.architectures),
        "quantization": {
            "methods": dict(release.methods),
            "supported": sorted(release.supported),
            "deprecated": sorted(release.deprecated),
            "modelopt_algorithms": list(release.modelopt_algorithms),
            "overlay": {kind: list(names) for kind, names in release.overlay.items()},
        },
        "choices": {option: list(names) for option, names in release.choices.items()},
        "capabilities": sorted(release.capabilities),
        "words": dict(release.words),
        "functions": dict(release.functions),
        "faults": [_fault(name, fault) for name, fault in release.faults.items()],
        "differs": [
            {"what": delta.name, "added": list(delta.added), "removed": list(delta.removed)}
            for delta in deltas(entry.before, release)
        ],
    }


def _fault(name: str, fault: Fault) -> dict[str, Any]:
    return {
        "name": name,
        "text": fault.text,
        "source": fault.source,
        "classes": sorted(fault.classes),
        "decision": fault.decision,
        "part": fault.part,
        "when": list(fault.when),
        "consequence": fault.consequence,
        "confidence": fault.confidence,
    }


def _render(entries: Sequence[Entry], style: Style) -> str:
    return json.dumps(releases_to_dict(entries), indent=2, ensure_ascii=True) + "\n"


FORMAT: Format[Entry] = Format(summary="fse.releases/1 for programs", render=_render)
