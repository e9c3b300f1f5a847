"""Tells a release's quantization config which modules are stored in full precision, in names that it takes.

Exporters leave modules out by a parent's name or by a glob, which FP8 and Quark do not heed: a shared expert that is
not fused would then be built quantized, and loaded wrongly.
"""

from collections.abc import Iterable
from typing import Any

from fse_core.vllm_plugin import log

_LISTS = {"Fp8Config": "ignored_layers", "ModelOptMxFp8Config": "exclude_modules"}
"""The classes that keep their list as an attribute, and its name."""


def leave_out(quant_config: Any, modules: Iterable[str]) -> None:
    """Add the modules to the list of what is not quantized, where the class has one that is known."""
    listed = _listed(quant_config)
    if listed is None:
        return
    new = [name for name in modules if name not in listed]
    listed += new
    if new:
        log.info("%d modules of shared experts are built in full precision, as stored: %s ...", len(new), new[0])


def _listed(quant_config: Any) -> list[str] | None:
    """The list itself."""
    name = type(quant_config).__name__
    found = quant_config.quant_config.get("exclude") if name == "QuarkConfig" else None
    if name in _LISTS:
        found = getattr(quant_config, _LISTS[name], None)
    return found if isinstance(found, list) else None
