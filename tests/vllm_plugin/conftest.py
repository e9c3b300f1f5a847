"""A package called vllm that is none, and a process whose plugin is as new."""

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

from fse_core.releases.fingerprint import fingerprints
from fse_core.vllm_plugin import log
from fse_core.vllm_plugin.installed import Installed
from fse_core.vllm_plugin.patch import Function, Patch

Package = Callable[[Mapping[str, str]], Path]


@pytest.fixture
def vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    """Makes a package from the texts of its modules, by their paths, and puts it where imports look first."""
    folder = tmp_path / "site"

    def make(files: Mapping[str, str]) -> Path:
        package = folder / "vllm"
        for name, text in {"__init__.py": '__version__ = "0.33.0"\n', **files}.items():
            path = package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            for parent in path.parents:
                if parent == folder:
                    break
                (parent / "__init__.py").touch()
        importlib.invalidate_caches()
        return package

    before = {name for name in sys.modules if name.partition(".")[0] == "vllm"}
    assert not before, "the tests' own environment has no vLLM"
    monkeypatch.syspath_prepend(str(folder))
    yield make
    for name in [name for name in sys.modules if name.partition(".")[0] == "vllm"]:
        del sys.modules[name]


@pytest.fixture
def installed() -> Iterator[Installed]:
    patches = Installed()
    yield patches
    patches.restore()


@pytest.fixture(autouse=True)
def _everything_can_be_said_again() -> Iterator[None]:
    log.forget()
    yield
    log.forget()


def known(package: Path, file: str, attribute: str, parameters: str) -> dict[str, str]:
    """What a patch has to know of a function that is in the package now."""
    return {fingerprints(str(package), [f"{file}:{attribute}"])[f"{file}:{attribute}"]: parameters}


def patch(module: str, attribute: str, texts: Mapping[str, str], wrap: Callable[[Function], Function]) -> Patch:
    return Patch(name=attribute, module=module, attribute=attribute, since="0.24.0", known=texts, wrap=wrap)


def load(name: str) -> ModuleType:
    return importlib.import_module(name)
