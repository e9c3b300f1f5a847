"""Does something with a module right after it was imported, before anybody can take a name from it."""

import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

After = Callable[[ModuleType], None]


class Watch(MetaPathFinder):
    """Calls what is registered for a module once that module has run."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[After]] = {}

    def when_imported(self, name: str, after: After) -> None:
        """Now, where the module is there already; else as soon as it is."""
        module = sys.modules.get(name)
        if module is not None:
            after(module)
            return
        self.waiting.setdefault(name, []).append(after)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module's own spec, whose loader calls back. Source: the import protocol of importlib."""
        if fullname not in self.waiting:
            return None
        spec = next(filter(None, (self._ask(finder, fullname, path, target) for finder in sys.meta_path)), None)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def then(module: ModuleType) -> None:
                run(module)
                for after in self.waiting.pop(fullname, []):
                    after(module)

            # A loader belongs to one module, so that its class need not be touched.
            spec.loader.exec_module = then  # type: ignore[method-assign]
        return spec

    def stop(self) -> None:
        """Forget what was waited for."""
        self.waiting.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def _ask(
        self, finder: object, name: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> importlib.machinery.ModuleSpec | None:
        find = None if finder is self else getattr(finder, "find_spec", None)
        found: importlib.machinery.ModuleSpec | None = find(name, path, target) if find else None
        return found
