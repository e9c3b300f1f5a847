"""What the formats of a diagnosis share."""

import json
from collections.abc import Iterator, Sequence

from fse_core.doctor.result import Diagnosis, LogReport, Option, Said, Variable
from fse_core.output.words.text import Tone

_FROM = {
    "option": "given",
    "image": "the image's tag",
    "installed": "installed here",
    "log": "the log",
    "driver": "the GPU here",
    "assumed": "assumed",
}
_ORIGINS = {
    "option": "--env",
    "command": "the command",
    "environment": "the environment",
    "default": "the release's default",
    "assumed": "assumed",
}
_TONES: dict[str, Tone] = {
    "matches": "good",
    "not_contradicted": "plain",
    "differs": "bad",
    "unknown": "warning",
}
_KINDS = {
    "refused": "not fused",
    "declined": "declined",
    "platform": "platform",
    "plugin": "plugin",
    "quantized": "quantized",
    "error": "error",
    "later_error": "later error",
}
_MOST = 200
_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def machine_words(found: Diagnosis) -> Iterator[tuple[str, str]]:
    """What is here, each with its label."""
    versions = found.machine.versions
    packages = ", ".join(f"{name} {version or 'absent'}" for name, version in versions.items())
    yield "here", packages
    yield "vLLM", f"{found.vllm} ({_FROM[found.vllm_from]})"
    count = len(found.machine.gpus)
    gpus = f", {count} of them" if count and found.gfx_from == "driver" else ""
    yield "GPU", f"{found.gfx} ({_FROM[found.gfx_from]}{gpus})"
    reason = found.machine.plugin_reason
    yield "plugin", found.machine.plugin + (f": {reason}" if reason else "")


def variable_words(variable: Variable) -> str:
    """`VLLM_ROCM_USE_AITER=1 (the environment)`."""
    if variable.value is None:
        return f"{variable.name} is not set"
    return f"{variable.name}={variable.value} ({_ORIGINS[variable.origin]})"


def shown_variables(variables: Sequence[Variable]) -> Iterator[Variable]:
    """Those that have a value."""
    return (one for one in variables if one.value is not None)


def option_words(option: Option) -> str:
    """`--tensor-parallel-size 8`."""
    name = f"--{option.name.replace('_', '-')}"
    if option.value is True:
        return name
    if option.value is False:
        return f"--no-{name[2:]}"
    text = option.value if isinstance(option.value, str) else json.dumps(option.value, default=str)
    return f"{name} {text if len(text) <= _MOST else text[:_MOST] + '...'}"


def said_words(said: Said) -> str:
    """How often, about which layers, by how many processes."""
    times = f"{said.count} time{_s(said.count)}"
    layers = f", layers {ranges(said.layers)}" if said.layers else ""
    processes = ""
    if said.processes:
        first, last = said.processes[0], said.processes[-1]
        count = len(said.processes)
        processes = f", by {first}" if count == 1 else f", by {count} processes ({first} to {last})"
    return f"{_KINDS[said.kind]}: {times}{layers}{processes}"


def log_summary(log: LogReport) -> tuple[str, Tone]:
    """The sentence that sums the log up."""
    became = {
        "fused": "fused",
        "partly": "partly fused",
        "separate": "not fused",
        "failed": "did not start",
        "unknown": "not known whether fused",
    }[log.fused]
    match = {
        "matches": "as predicted",
        "not_contradicted": "not against the prediction",
        "differs": "NOT as predicted",
        "unknown": "nothing to compare with",
    }[log.match]
    return f"{became}: {log.why}; {match}", _TONES[log.match]


def size_words(size: int) -> str:
    """`1.9 GB`."""
    value, unit = float(size), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{size} bytes" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"


def ranges(numbers: Sequence[int]) -> str:
    """`3-60, 62`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def _s(count: int) -> str:
    return "" if count == 1 else "s"
