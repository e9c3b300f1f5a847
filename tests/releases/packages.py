"""Made packages that look like an installed vLLM, and made releases that know their functions."""

from dataclasses import replace
from pathlib import Path

from fse_core import releases
from fse_core.releases.fingerprint import fingerprints
from fse_core.releases.release import Release

GATE = """\
def gate(config):
    # asks
    return config


class Loader:
    def load(self, name):
        return name
"""
FUNCTIONS = ("layers/gate.py:gate", "layers/gate.py:Loader.load")


def package(folder: Path, text: str = GATE, version: str | None = "0.33.0") -> Path:
    """A package with one file of code that would raise if it were run."""
    root = folder / "vllm"
    for name in ("model_executor", "engine", "layers"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "__init__.py").write_text("raise SystemExit('this must not run')\n")
    (root / "layers" / "gate.py").write_text(f"raise SystemExit('this must not run')\n{text}")
    if version is not None:
        (root / "_version.py").write_text(f"__version__ = version = {version!r}\n")
    return root


def release(name: str, known: Path, *more: str) -> Release:
    """A release that has the functions as they are in the package `known`."""
    functions = fingerprints(str(known), (*FUNCTIONS, *more))
    return replace(releases.load("latest"), version=name, functions=functions)
