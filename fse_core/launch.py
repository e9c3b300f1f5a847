"""The command that serves a model as a target says."""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from fse_core.report import Source
from fse_core.target import REQUESTED_ENVIRONMENT

_SIZES = {
    "tp": "--tensor-parallel-size",
    "pp": "--pipeline-parallel-size",
    "dp": "--data-parallel-size",
    "pcp": "--prefill-context-parallel-size",
}
_SWITCHES = {"ep": "--enable-expert-parallel", "eplb": "--enable-eplb", "dbo": "--enable-dbo"}
_CONTINUED = " \\\n"


def command(source: Source, target: Mapping[str, Any]) -> str:
    """Variables and `vllm serve` for a POSIX shell, one option a line; of a model on the Hub what was looked at."""
    return _CONTINUED.join(_lines(source, target))


def _revision(source: Source) -> str | None:
    """The commit that was looked at, where it is known: a branch moves on, and another commit may fare otherwise."""
    if source.kind != "hub":
        return None
    return source.commit or (None if source.revision == "main" else source.revision)


def _lines(source: Source, target: Mapping[str, Any]) -> Iterator[str]:
    for name, value in {**REQUESTED_ENVIRONMENT, **target["env"]}.items():
        yield f"{name}={shlex.quote(value)}"
    yield f"vllm serve {shlex.quote(source.id)}"
    revision = _revision(source)
    if revision is not None:
        yield f"  --revision {shlex.quote(revision)}"
    for key, flag in _SIZES.items():
        if key == "tp" or target[key] != 1:
            yield f"  {flag} {target[key]}"
    yield from (f"  {flag}" for key, flag in _SWITCHES.items() if target[key])
    if target["moe_backend"] != "auto":
        yield f"  --moe-backend {shlex.quote(target['moe_backend'])}"
    if target["all2all_backend"] is not None:
        yield f"  --all2all-backend {shlex.quote(target['all2all_backend'])}"
    if target["quantization_config"] is not None:
        yield f"  --quantization-config {shlex.quote(json.dumps(target['quantization_config']))}"
