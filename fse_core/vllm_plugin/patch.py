"""One function of a release that is replaced: where it is, how it must read, and what takes its place."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, cast

from fse_core.releases import parsed
from fse_core.releases.fingerprint import fingerprints

Function = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Patch:
    """A replacement, told in full.

    module: where the function is defined; attribute: its name there, `Class.method` for a method.
    since, until: the releases that have it: from `since` on, before `until` (None: no end is known).
    known: each text of it that is known (its fingerprint), with the parameters that it then has.
    wrap: makes the replacement from the original function.
    """

    name: str
    module: str
    attribute: str
    since: str
    until: str | None = None
    known: Mapping[str, str]
    wrap: Callable[[Function], Function] = field(repr=False)

    def belongs_to(self, version: str) -> bool:
        """Whether this release is one of those that have the function."""
        numbers = parsed(version).numbers
        return parsed(self.since).numbers <= numbers and (self.until is None or numbers < parsed(self.until).numbers)

    def objection(self, module: ModuleType, package: str) -> str | None:
        """Why the function in `module` is not one that is known, None where it is. `package`: the folder of vllm."""
        found = place(module, self.attribute)
        if found is None:
            return "it is not there"
        function = plain(found)
        file = f"{module.__name__.removeprefix('vllm.').replace('.', '/')}.py"
        digest = fingerprints(package, [f"{file}:{self.attribute}"]).get(f"{file}:{self.attribute}")
        if digest is None or digest not in self.known:
            return "its text is not one that is known"
        has = parameters(function)
        if has != self.known[digest]:
            return f"it takes ({has}), not ({self.known[digest]}): something else has replaced it"
        return None


def place(module: ModuleType, attribute: str) -> object | None:
    """What stands under the attribute, as its class or module holds it: a method is not bound."""
    owner = owner_of(module, attribute)
    return None if owner is None else vars(owner).get(attribute.rpartition(".")[2])


def owner_of(module: ModuleType, attribute: str) -> Any:
    """The module, or the class in it, that holds the attribute; None where there is none."""
    owner: Any = module
    for name in attribute.split(".")[:-1]:
        owner = getattr(owner, name, None)
    return owner


def plain(found: object) -> Function:
    """The function in a class method, or the function itself."""
    function: Any = getattr(found, "__func__", found)
    return cast(Function, function)


def parameters(function: Function) -> str:
    """The parameters with their defaults and without their types: `self, param, return_success=False`."""
    signature = inspect.signature(function)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return str(inspect.Signature(bare))[1:-1]
