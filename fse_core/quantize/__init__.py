"""Number formats that routed experts are stored in, and a full-precision weight's bytes in each."""

import functools
import importlib
import pkgutil
from collections.abc import Mapping

from fse_core.quantize.base import Error, Format, Quantized, Storage

__all__ = ["Error", "Format", "Quantized", "Storage", "formats"]


@functools.cache
def formats() -> Mapping[str, Format]:
    """Every format by its name. A module here that defines FORMAT adds one; kernels are imported when used."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.endswith("_triton")]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found: list[Format] = [module.FORMAT for module in modules if hasattr(module, "FORMAT")]
    return {form.name: form for form in found}
