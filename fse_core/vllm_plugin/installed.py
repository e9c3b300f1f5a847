"""Which functions are replaced in this process, and what they were."""

import os
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

from fse_core.vllm_plugin import log
from fse_core.vllm_plugin.importing import Watch
from fse_core.vllm_plugin.patch import Patch, owner_of, place, plain

State = Literal["waiting", "replaced", "untouched"]


@dataclass(frozen=True, kw_only=True)
class Replaced:
    """A replaced attribute: what held it, what it was, and what it is now."""

    owner: Any
    name: str
    original: Any
    replacement: Any


class Installed:
    """The patches of one process. A patch that was seen to is not seen to again."""

    def __init__(self) -> None:
        self.watch = Watch()
        self.states: dict[str, State] = {}
        self.replaced: dict[str, list[Replaced]] = {}

    def add(self, patch: Patch) -> None:
        """Replace the function, now or as soon as its module is imported; leave one that is not known as it is."""
        if patch.name not in self.states:
            self.states[patch.name] = "waiting"
            self.watch.when_imported(patch.module, lambda module: self._see_to(patch, module))

    def active(self, name: str) -> bool:
        """Whether the patch's function has been replaced."""
        return self.states.get(name) == "replaced"

    def restore(self) -> None:
        """Put every original back."""
        self.watch.stop()
        for places in self.replaced.values():
            for one in places:
                setattr(one.owner, one.name, one.original)
        self.states.clear()
        self.replaced.clear()

    def _see_to(self, patch: Patch, module: ModuleType) -> None:
        # What fails here must not end the import of a module of vLLM.
        try:
            objection = patch.objection(module, package_folder())
        except Exception as error:
            objection = f"it cannot be examined: {type(error).__name__}: {error}"
        if objection is not None:
            self.states[patch.name] = "untouched"
            log.line("%s.%s is left untouched: %s", patch.module, patch.attribute, objection)
            return
        self._replace(patch, module)
        self.states[patch.name] = "replaced"

    def _replace(self, patch: Patch, module: ModuleType) -> None:
        name = patch.attribute.rpartition(".")[2]
        original = place(module, patch.attribute)
        wrapped = patch.wrap(plain(original))
        replacement = classmethod(wrapped) if isinstance(original, classmethod) else wrapped
        owners = [owner_of(module, patch.attribute)]
        if owners == [module]:  # others may have imported the function by its name
            owners += [other for other in _of_vllm() if other is not module and vars(other).get(name) is original]
        self.replaced[patch.name] = [
            Replaced(owner=owner, name=name, original=original, replacement=replacement) for owner in owners
        ]
        for owner in owners:
            setattr(owner, name, replacement)


def package_folder() -> str:
    """The folder of the vllm that is imported."""
    return os.path.dirname(str(sys.modules["vllm"].__file__))


def _of_vllm() -> list[ModuleType]:
    return [module for name, module in list(sys.modules.items()) if name.startswith("vllm.") and module is not None]


HERE = Installed()
"""The patches of this process."""
