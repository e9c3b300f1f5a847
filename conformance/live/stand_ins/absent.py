"""Makes an absent package importable: every module and every name below it is a mock that is never run."""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock


def mock_name(name: str) -> Any:
    """A mock for a public name. Dunder names stay absent, so that Python's own protocols see an ordinary module."""
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    return MagicMock(name=name)


class MockModule(ModuleType):
    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return mock_name(name)


class SubmoduleFinder(MetaPathFinder, Loader):
    """Finds every module below one package."""

    def __init__(self, package: str) -> None:
        self.below = f"{package}."

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.startswith(self.below) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return MockModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """A mock module has no body."""


def stand_in_for(package: str) -> None:
    """Let any submodule of `package` be imported."""
    sys.meta_path.insert(0, SubmoduleFinder(package))
