"""No kernel runs here, so a missing one must not end a build: where the release finds none, it gets a mock.

That there is none for this machine, for a weight's shape, or for one layer's own scheme says nothing about fusion, and
the layers after it are still to be decided.
"""

import functools
import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import MagicMock

LINEAR = "vllm.model_executor.kernels.linear"
SHAPES = "vllm.model_executor.layers.quantization.utils.fp8_utils"
ORACLES = "vllm.model_executor.layers.fused_moe.oracle"
CHOOSES_LINEAR = re.compile(r"(init|choose)_\w*linear_kernel")
CHOOSES_EXPERTS = re.compile(r"select_\w+_moe_backend")
CHECKS_SHAPE = re.compile(r"validate_fp8_block_shape")
NO_SCHEME = re.compile(r"No quark compatible scheme|Unsupported activation quant key|Unsupported FusedMoe scheme")
NOT_FOUND = (ValueError, NotImplementedError, AttributeError, TypeError, ImportError)


def make_methods_optional() -> None:
    """A layer for which the release finds no method of its own gets the plain one, and is built."""
    from vllm.model_executor.layers import linear

    if not hasattr(linear, "resolve_quant_method"):  # until 0.29.0 the class is asked itself
        _make_class_optional(linear)
        return
    from vllm.model_executor.layers.fused_moe import routed_experts

    for module, plain in ((linear, linear.UnquantizedLinearMethod), (routed_experts, lambda: None)):
        module.resolve_quant_method = _or_plain(module.resolve_quant_method, plain)


def _make_class_optional(linear: Any) -> None:
    from vllm.model_executor.layers.quantization.quark.quark import QuarkConfig

    ask = QuarkConfig.get_quant_method

    @functools.wraps(ask)
    def asked(config: Any, layer: Any, prefix: str) -> Any:
        try:
            return ask(config, layer, prefix)
        except (ValueError, RuntimeError) as error:
            if NO_SCHEME.search(str(error)) is None:
                raise
            return linear.UnquantizedLinearMethod() if isinstance(layer, linear.LinearBase) else None

    QuarkConfig.get_quant_method = asked


def _or_plain(resolve: Callable[..., Any], plain: Callable[[], Any]) -> Callable[..., Any]:
    @functools.wraps(resolve)
    def resolved(config: Any, layer: Any, prefix: str) -> Any:
        try:
            return resolve(config, layer, prefix)
        except (ValueError, RuntimeError) as error:  # NotImplementedError is a RuntimeError
            if NO_SCHEME.search(str(error)) is None:
                raise
            # What the release would have gone on to, had the checkpoint's own method been there.
            online = config.online_quantization_config
            return plain() if online is None else online.get_quant_method(layer, prefix) or plain()

    return resolved


def make_optional() -> None:
    """Wrap every function of the release that chooses a kernel, wherever it has been imported to."""
    for chooser in (LINEAR, SHAPES, *_modules_below(ORACLES)):
        importlib.import_module(chooser)
    wrapped = {id(function): (function, _or_mock(function)) for function in _choosers()}
    for module in list(sys.modules.values()):
        if module.__name__.startswith("vllm."):
            for name, value in list(vars(module).items()):
                if id(value) in wrapped and wrapped[id(value)][0] is value:
                    setattr(module, name, wrapped[id(value)][1])


def _modules_below(package: str) -> Iterator[str]:
    paths = importlib.import_module(package).__path__
    return (info.name for info in pkgutil.iter_modules(paths, f"{package}."))


def _choosers() -> Iterator[Callable[..., Any]]:
    for start, pattern in ((LINEAR, CHOOSES_LINEAR), (SHAPES, CHECKS_SHAPE), (ORACLES, CHOOSES_EXPERTS)):
        for name, module in list(sys.modules.items()):
            if name.startswith(start):
                yield from (value for key, value in vars(module).items() if pattern.fullmatch(key) and callable(value))


def _or_mock(choose: Callable[..., Any]) -> Callable[..., Any]:
    chooses_experts = CHOOSES_EXPERTS.fullmatch(choose.__name__)

    @functools.wraps(choose)
    def chosen(*args: Any, **kwargs: Any) -> Any:
        try:
            return choose(*args, **kwargs)
        except NOT_FOUND:
            return (MagicMock(), MagicMock()) if chooses_experts else MagicMock()

    return chosen
