"""What `fse check --plugin` says of each row, against what the releases were recorded to do with the plugin."""

import functools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.checkpoints import tensors
from conformance.plugin import record
from conformance.plugin.beyond import BEYOND
from conformance.plugin.rows import ROWS
from fse_core import Target, check
from fse_core.headers import with_headers
from fse_core.read.model import Model
from fse_core.read.source import read_model
from fse_core.report import RUINOUS, Report

_NONE_FUSED = "FSE: 0 of 2 MoE layers fused: "
_SAID = 120
"""Characters of a reason that are compared: the log's line has the versions and names of that run in it."""

_ROWS = {row.id: row for row in (*ROWS, *BEYOND)}


def differences(release: str) -> Iterator[str]:
    """Each recorded answer of the release that is predicted otherwise, in a line."""
    for found in record.read("rows", release):
        difference = _difference(found["with"], predicted(found["row"], release), found["row"])
        if difference is not None:
            yield f"{release} {found['row']}: {difference}"


def predicted(row: str, release: str) -> Report:
    """The report on a row's checkpoint, with full headers."""
    asked = _ROWS[row]
    target = Target(
        vllm=release, gfx="gfx950", draft=False, plugin=True, environment=dict(asked.environment), **asked.options
    )
    return check(_model(row), target)


@functools.cache
def _model(row: str) -> Model:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "config.json").write_text(json.dumps(_ROWS[row].checkpoint.config()), "utf-8")
        tensors.write(place / "model.safetensors", _ROWS[row].checkpoint.tensors())
        return with_headers(read_model(folder), "full", ())


def _difference(truth: dict[str, Any], ours: Report, row: str) -> str | None:
    if len(ours.layers) != truth["layers"] or ours.undecided_reason is not None:
        return f"{truth['text']}, by ours {ours.verdict}: {ours.undecided_reason}"
    fused = sum(layer.decision.decision == "fused" for layer in ours.layers)
    if fused != truth["fused"]:
        return f"{truth['text']}, by ours {fused} fused ({ours.verdict})"
    breaks = any(one.confidence == "certain" and one.consequence in RUINOUS for one in ours.findings)
    # A target for what is stored in FP8 is no use in any release, and nothing is promised of it.
    if breaks == truth["sound"] and not row.startswith("refuse-targets"):
        return f"{truth['text']}, by ours {ours.verdict}, {[one.rule for one in ours.findings]}"
    said = next((line.removeprefix(_NONE_FUSED) for line in truth["lines"] if line.startswith(_NONE_FUSED)), None)
    told = ours.layers[0].decision.reason or ""
    if said is not None and told[:_SAID] != said[:_SAID]:
        return f"it says {said!r}, ours {told!r}"
    return None
