"""Lets the installed vLLM decide about a model itself, in a process of its own, without its weights.

What runs there is the conformance harness: conformance/live in a checkout, and a copy of it in the wheel.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from fse_core.doctor.asked import Asked
from fse_core.errors import FseError
from fse_core.read.model import Model
from fse_core.report import Failure
from fse_core.target import REQUESTED_ENVIRONMENT, Target

_CORE: Final = Path(__file__).resolve().parents[1]
_PLACES: Final = (_CORE / "harness", _CORE.parent)
_QUIET: Final = {
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_PLUGINS": "none",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
_SHOWN: Final = 400


class CannotAsk(FseError):
    """There is no vLLM here, or it did not answer."""


def require() -> None:
    """CannotAsk where no vLLM is importable, or the harness is not here."""
    if importlib.util.find_spec("vllm") is None:
        raise CannotAsk("no vLLM can be imported here: ask in its own environment, such as the image that serves")
    _harness()


def ask(model: Model, target: Target, *, pretend: bool, limit: float) -> Asked:
    """Has the installed vLLM build the model on the meta device. CannotAsk where it gives no answer in `limit` s."""
    from fse_core.check import check

    report = check(model, target)
    question = {
        "config": dict(model.config.raw),
        "hf_quant_config": None if model.hf_quant_config is None else dict(model.hf_quant_config.raw),
        "target": _fields(target),
        "pretend": pretend,
    }
    told = _told(json.dumps(question), target, pretend, limit)
    error = told["error"]
    return Asked(
        report=report,
        version=told["version"],
        pretended=pretend,
        fused=told["fused"],
        separate=told["separate"],
        error=None if error is None else Failure(type=error["type"], message=error["message"]),
        compared=told["compared"],
        agreed=told["agreed"],
        differences=tuple(told["differences"]),
    )


def _fields(target: Target) -> dict[str, Any]:
    return {
        name: dict(value) if isinstance(value, Mapping) else value
        for name in Target.__dataclass_fields__
        if (value := getattr(target, name)) is not None
    }


def _harness() -> Path:
    """The folder in which `conformance` is."""
    for place in _PLACES:
        if (place / "conformance" / "live" / "here.py").is_file():
            return place
    raise CannotAsk("this installation of fse does not hold the harness that asks vLLM")


def _told(question: str, target: Target, pretend: bool, limit: float) -> dict[str, Any]:
    harness = _harness()
    stand_ins = (harness / "conformance" / "live" / "stand_ins",) if pretend else ()
    paths = [*map(str, (*stand_ins, harness, _CORE.parent)), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"FSE_GFX": target.gfx, "PYTHONPATH": os.pathsep.join(paths)}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VLLM_")}
    with tempfile.TemporaryDirectory() as folder:
        environment = {**kept, **_QUIET, **REQUESTED_ENVIRONMENT, **own, "VLLM_CACHE_ROOT": folder}
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", "conformance.live.here"],
                input=question,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=limit,
                env=environment,
                cwd=folder,
            )
        except subprocess.TimeoutExpired:
            raise CannotAsk(f"vLLM gave no answer in {limit:.0f} seconds") from None
    return _parsed(done)


def _parsed(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise CannotAsk(f"vLLM ended with {done.returncode} and no answer: {last[:_SHOWN]}") from None
    if "failed" in told:
        raise CannotAsk(str(told["failed"])[:_SHOWN])
    return told
