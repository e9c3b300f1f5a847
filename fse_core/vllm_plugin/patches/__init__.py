"""What is replaced in a release: one file a function. Those that define `PATCH` are found here."""

import functools
import importlib
import pkgutil

from fse_core.vllm_plugin.patch import Patch


@functools.cache
def known() -> tuple[Patch, ...]:
    """All patches, by their names."""
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    found: list[Patch] = [module.PATCH for module in modules if hasattr(module, "PATCH")]
    return tuple(sorted(found, key=lambda patch: patch.name))
