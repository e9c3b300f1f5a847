"""How vLLM reads a checkpoint's quantization block. One file a vLLM class; those that define `CLASS` are found here."""

import functools
import importlib
import pkgutil
from collections.abc import Mapping

from fse_core.quantization.base import Quantization


@functools.cache
def classes() -> Mapping[str, type[Quantization]]:
    """The vLLM class's name to ours."""
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    found = (getattr(module, "CLASS", None) for module in modules)
    return {name: cls for cls in found if cls is not None for name in (cls.class_name, *cls.former_names)}
