"""What the doctor says: `fse.doctor/1`, before it is written. Fields are added to it, never changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fse_core.report import Report

Origin = Literal["option", "command", "environment", "default", "assumed"]
Fused = Literal["fused", "partly", "separate", "failed", "unknown"]
PluginState = Literal["absent", "off", "on"]
Severity = Literal["error", "warning", "info"]
Match = Literal["matches", "not_contradicted", "differs", "unknown"]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something about the command line or the container. An error means that the release would not start so."""

    severity: Severity
    message: str


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A variable that bears on fusion: its value there (None: not set, and no default), and where that comes from."""

    name: str
    value: str | None
    origin: Origin


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What this machine has: package versions (None where one is absent), GPUs, and the plugin.

    plugin: "absent" (not installed for vLLM), "off" (installed, and something keeps it from acting), or "on".
    """

    versions: Mapping[str, str | None]
    gpus: tuple[str, ...]
    plugin: PluginState
    plugin_reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option of the command line as the release reads it. `bears` says whether fusion can depend on it."""

    name: str
    value: object
    bears: bool


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A launch command as the release reads it."""

    model: str | None
    options: tuple[Option, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Said:
    """One thing that a log says, however often: about which layers, and by which processes.

    kind: refused (a gate's no), declined (the class's own no), platform, plugin, quantized, error, or later_error,
    which came when the model was served already.
    layers: the numbers that the words name; `text` has `*` in their place where there are several.
    at: the byte at which it stands for the first time.
    """

    kind: str
    text: str
    count: int
    layers: tuple[int, ...] = ()
    processes: tuple[str, ...] = ()
    at: int = 0


@dataclass(frozen=True, kw_only=True)
class LogReport:
    """What a log of `size` bytes says, `more` things uncounted.

    stage: how far the release got, as far as that can be seen: started, built, loaded, serves.
    fused: what became of the shared experts, with `why` in words; match: whether that is what was predicted, with
    `difference` where it is not.
    """

    file: str
    size: int
    version: str | None
    model: str | None
    stage: Literal["started", "built", "loaded", "serves"]
    said: tuple[Said, ...]
    fused: Fused
    why: str
    match: Match
    difference: str | None = None
    more: int = 0


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """Everything that was looked at."""

    machine: Machine
    vllm: str
    vllm_from: str
    gfx: str
    gfx_from: str
    variables: tuple[Variable, ...] = ()
    launch: Launch | None = None
    report: Report | None = None
    log: LogReport | None = None
    unread: str | None = None
    problems: tuple[Problem, ...] = field(default_factory=tuple)
