"""Converts weights in threads, a few ahead of the one that is written."""

import importlib.util
import threading
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from fse_core.convert.checkpoint import Checkpoint
from fse_core.convert.experts import Conversion
from fse_core.errors import InputError

if TYPE_CHECKING:
    from fse_core.convert.numbers import Made


class Ahead:
    """The results of `conversions`, in their order. So many threads work on the next ones; no more are kept."""

    def __init__(self, checkpoint: Checkpoint, conversions: Sequence[Conversion], device: str, threads: int) -> None:
        self._checkpoint, self._device = checkpoint, device
        self._left = deque(conversions)
        self._pool = ThreadPoolExecutor(threads)
        self._begun: deque[tuple[Conversion, Future[Any]]] = deque()
        for _ in range(threads):
            self._begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def next(self) -> "tuple[Conversion, Made]":
        """The next result."""
        one, future = self._begun.popleft()
        made = future.result()
        self._begin()
        return one, made

    def _begin(self) -> None:
        if self._left:
            one = self._left.popleft()
            self._begun.append((one, self._pool.submit(_made, self._checkpoint, one, self._device)))


def _made(checkpoint: Checkpoint, one: Conversion, device: str) -> "Made":
    with torch_alone():
        from fse_core.convert.numbers import convert_weight  # torch: not needed to plan, nor to copy

        return convert_weight(checkpoint, one, device)


class _Alone:
    """How many are inside `torch_alone`, and how many threads torch had before the first came."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.before = 0


_alone = _Alone()


@contextmanager
def torch_alone() -> Iterator[None]:
    """Inside, torch computes in the thread that asks it: several weights at a time keep the cores as busy, and no
    thread waits at each step for one that another process has pushed aside. InputError where torch cannot be imported.
    """
    with _alone.lock:
        torch = _torch()
        if not _alone.inside:
            _alone.before = torch.get_num_threads()
            torch.set_num_threads(1)
        _alone.inside += 1
    try:
        yield
    finally:
        with _alone.lock:
            _alone.inside -= 1
            if not _alone.inside:
                torch.set_num_threads(_alone.before)


def require_torch() -> None:
    """InputError where there is no torch. It is not imported: that takes seconds, in which bytes are copied already."""
    if importlib.util.find_spec("torch") is None:
        raise _missing("it is not installed")


def require_device(device: str) -> None:
    """InputError where a GPU is asked for that torch does not find."""
    require_torch()
    if device == "cuda" and not _torch().cuda.is_available():
        raise InputError("--device", "cuda is asked for, and torch finds no such GPU here; cpu does it everywhere")


def _torch() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Failed to initialize NumPy")  # which nothing here needs
            import torch
    except ImportError as error:
        raise _missing(error) from None
    return torch


def _missing(why: object) -> InputError:
    return InputError("torch", f"is needed to quantize, and cannot be imported ({why}): pip install 'vllm-fse[torch]'")
