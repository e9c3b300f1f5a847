"""Lets torch answer as it would on a host with AMD GPUs, though there is none and torch is built for CPUs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import torch
import torch._ops
from torch.overrides import TorchFunctionMode

GPUS = 64
MEMORY = 288 << 30
CAPABILITY = {"gfx90a": (9, 0), "gfx942": (9, 4), "gfx950": (9, 5), "gfx1250": (12, 5)}


def _always(value: Any) -> Any:
    return lambda *_args, **_kwargs: value


def pretend() -> None:
    """Install the answers. Must run before the release is imported."""
    gfx = os.environ["FSE_GFX"]
    major, minor = CAPABILITY[gfx]
    properties = SimpleNamespace(
        name=f"AMD {gfx}",
        gcnArchName=gfx,
        major=major,
        minor=minor,
        multi_processor_count=304,
        total_memory=MEMORY,
        warp_size=64,
        shared_memory_per_block=64 << 10,
    )
    cuda = {
        "is_available": True,
        "device_count": GPUS,
        "current_device": 0,
        "set_device": None,
        "get_device_properties": properties,
        "get_device_name": properties.name,
        "get_device_capability": CAPABILITY[gfx],
        "mem_get_info": (MEMORY, MEMORY),
    }
    accelerator = {
        "current_accelerator": torch.device("meta"),
        "current_device_index": 0,
        "current_device_idx": 0,
        "set_device_index": None,
        "device_count": GPUS,
    }
    for owner, answers in ((torch.cuda, cuda), (torch.accelerator, accelerator)):
        for name, value in answers.items():
            setattr(owner, name, _always(value))
    for name in ("Stream", "Event"):
        setattr(torch.cuda, name, MagicMock)
    for name in ("current_stream", "default_stream"):
        setattr(torch.cuda, name, MagicMock())
    torch._C._accelerator_isAllocatorInitialized = _always(False)


def mock_absent_operators() -> None:
    """Constructors look compiled operators up; those that this build lacks become mocks."""
    namespace: Any = torch._ops._OpNamespace
    found = namespace.__getattr__

    def lookup(self: Any, name: str) -> Any:
        try:
            return found(self, name)
        except AttributeError:
            if name.startswith("__"):
                raise
            return MagicMock(name=name)

    namespace.__getattr__ = lookup


class _InsteadOfGpu(TorchFunctionMode):
    """Wherever a tensor is asked for on a GPU, it is made on another device."""

    def __init__(self, device: str) -> None:
        super().__init__()
        self.device = device

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if "device" in kwargs and _is_gpu(kwargs["device"]):
            kwargs["device"] = self.device
        moved = (self.device if isinstance(a, (str, torch.device)) and _is_gpu(a) else a for a in args)
        return func(*moved, **kwargs)


def _is_gpu(device: Any) -> bool:
    return isinstance(device, int) or "cuda" in str(device)


@contextmanager
def on(device: str, dtype: Any) -> Iterator[None]:
    """Make everything on `device`, "meta" or "cpu", and floating-point parameters in `dtype`."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device), _InsteadOfGpu(device):
            yield
    finally:
        torch.set_default_dtype(before)
