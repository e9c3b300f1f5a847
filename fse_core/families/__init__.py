"""What vLLM's model classes do with shared experts. One file a family; those that define `FAMILY` are found here."""

import functools
import importlib
import pkgutil
from collections.abc import Mapping

from fse_core.families.base import Family


@functools.cache
def families() -> Mapping[str, Family]:
    """HF architecture name to the family that answers for it."""
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    found = (getattr(module, "FAMILY", None) for module in modules)
    return {architecture: family for family in found if family is not None for architecture in family.architectures}
