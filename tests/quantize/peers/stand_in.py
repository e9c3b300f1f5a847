"""One file of a package, without the package: whatever else the file imports from it is a stand-in."""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every module below the given packages, and makes it a mock with the given attributes."""

    def __init__(self, packages: Iterable[str], attributes: Mapping[str, Mapping[str, object]]) -> None:
        self.packages = tuple(packages)
        self.attributes = attributes

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A spec for the modules that are stood in for."""
        if any(fullname == package or fullname.startswith(f"{package}.") for package in self.packages):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        """The mock."""
        module = MagicMock(name=spec.name)
        module.__path__, module.__spec__, module.__version__ = [], spec, "0"
        for name, value in self.attributes.get(spec.name, {}).items():
            setattr(module, name, value)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: it is complete."""


def stand_in(*packages: str, **attributes: Mapping[str, object]) -> None:
    """From now on imports of these packages are stood in for; `attributes` by module, its dots written as two _."""
    named = {name.replace("__", "."): values for name, values in attributes.items()}
    sys.meta_path.insert(0, StandIns(packages, named))


def load(path: Path) -> ModuleType:
    """Run a file as a module of its own."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    # Triton looks its functions' sources up there.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
