"""What comes out of a check. `Report.as_dict()` is the `fse.report/1` object; fields are added to it, never changed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

PartName = Literal["target", "draft"]
Mode = Literal["aiter", "heterogeneous", "mega_moe"]
Decided = Literal["fused", "separate", "error", "undecided"]
Verdict = Literal["fuses", "separate", "breaks", "fails", "not_applicable", "undecided"]
Severity = Literal["error", "warning", "info"]
Confidence = Literal["certain", "likely"]
Consequence = Literal["load_fails", "silent_corruption", "start_fails", "not_fused", "slower", "none"]

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")
"""The worst first."""

BREAKING: Final[tuple[Consequence, ...]] = ("load_fails", "silent_corruption")
"""The consequences for which a fused model breaks."""

RUINOUS: Final[tuple[Consequence, ...]] = (*BREAKING, "start_fails")
"""Those that no server survives, or its answers do not."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An exception that the release raises: its class name and its words."""

    type: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What the release does with one layer's shared experts; `reason` are its own words, None where it gives none."""

    decision: Decided
    reason: str | None = None
    error: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One decoder layer that has shared experts beside routed ones. `index` is the number in its prefix."""

    index: int
    part: PartName
    prefix: str
    experts: str
    shared: str
    slots: int
    mode: Mode
    decision: Decision
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Fix:
    """A change that would help, as data. `patch` is what a program applies."""

    kind: Literal["env", "flag", "quantization_config", "config_patch", "requantize", "revision", "release"]
    safety: Literal["lossless", "changes-numerics", "needs-evaluation"]
    summary: str
    patch: Any


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where something stands: a file, a JSON pointer into it, and the line and column, from 1, where they are known."""

    file: str
    pointer: str = ""
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What we know beyond the decision. `part` is the one that `layers` are of, None where it is about no layer.

    `places` are where the evidence stands, as far as that was asked for and is known.
    """

    rule: str
    name: str
    severity: Severity
    confidence: Confidence
    consequence: Consequence
    message: str
    part: PartName | None = None
    layers: str = ""
    evidence: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    places: tuple[Place, ...] = ()


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The worst first, of two that are as bad the target's before a draft's."""
    return tuple(sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), one.part == "draft")))


@dataclass(frozen=True, kw_only=True)
class Ignored:
    """A finding that was put aside, and why. `until` is the day, as YYYY-MM-DD, from which on it counts again."""

    finding: Finding
    reason: str
    until: str | None = None


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where the config came from. `commit` is the Hub commit that `revision` resolved to, None elsewhere."""

    kind: Literal["hub", "path", "inline"]
    id: str
    revision: str | None = None
    commit: str | None = None


@dataclass(frozen=True, kw_only=True)
class Report:
    """The answer for one model and one target.

    `startup_part` is the part whose build `startup_error` aborts. `out_of_time` marks an `undecided` that hangs on how
    busy the machine was; no such report is to be kept. `config` is where the model's facts stand, where that was asked.
    """

    source: Source
    architecture: str | None
    model_type: str | None
    layer_count: int | None
    quantization: str | None
    target: dict[str, Any]
    verdict: Verdict
    requested: bool
    requested_reason: str | None = None
    layers: tuple[Layer, ...] = ()
    undecided_reason: str | None = None
    out_of_time: bool = False
    startup_error: Failure | None = None
    startup_part: PartName | None = None
    findings: tuple[Finding, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    config: Place | None = None

    @property
    def at_risk(self) -> bool:
        """It fuses, and a finding says that something goes wrong, though not surely, or with the draft alone."""
        return self.verdict == "fuses" and any(finding.severity == "error" for finding in self.findings)
