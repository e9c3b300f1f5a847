"""Imports the release once, then answers JSON lines: one forked child a case, several at a time.

In: `{"id": 1, "case": {...}, "stage": 0, "limit": 60}`. Out: `{"id": 1, "answer": {...}}`, in the order of completion.
"""

import gc
import json
import os
import selectors
import sys
import time
from collections import deque
from functools import partial
from typing import Any, TextIO

from conformance.live import kernels, rocm
from conformance.live.forks import Child, fork

WARM = (
    "vllm.engine.arg_utils",
    "vllm.model_executor.model_loader.utils",
    "vllm.model_executor.layers.fused_moe.layer",
    "vllm.v1.worker.workspace",
)

LEARNED = ("vllm.", "transformers.")
"""Whose modules the server imports itself once a child had to."""


def import_release(*, pretend: bool = True) -> None:
    """Everything that every case needs, believing that this is ROCm, or `pretend` is false and it is."""
    if pretend:
        rocm.pretend()
    for name in WARM:
        __import__(name)
    from vllm._aiter_ops import rocm_aiter_ops
    from vllm.config import vllm as engine_config
    from vllm.model_executor.models import registry
    from vllm.triton_utils import tl

    type(tl).__getattr__ = lambda _self, _name: None  # kernels are defined here and never run
    engine_config.HAS_TRITON = True  # decides which model runner there is, and so what it supports
    registry._run_in_subprocess = lambda function: function()  # a new process would not believe in ROCm
    kernels.make_optional()
    kernels.make_methods_optional()
    # AITER itself would be asked here; a release is served with one that can.
    rocm_aiter_ops.fused_moe_supports_heterogeneous_shared_expert = staticmethod(lambda *_: True)


class Server:
    """The requests that wait, and the children that run."""

    def __init__(self, answers: TextIO, jobs: int) -> None:
        self.answers = answers
        self.jobs = jobs
        self.waiting: deque[dict[str, Any]] = deque()
        self.selector = selectors.DefaultSelector()
        self.running: dict[int, tuple[dict[str, Any], Child]] = {}
        self.modules: set[str] = set()
        self.unread = b""
        self.open = True

    def serve(self) -> None:
        self.selector.register(0, selectors.EVENT_READ)
        while self.open or self.waiting or self.running:
            self.start_children()
            for key, _ in self.selector.select(timeout=1.0):
                if key.fd == 0:
                    self.take_requests()
                else:
                    self.listen(key.fd)
            self.stop_late_children()

    def take_requests(self) -> None:
        chunk = os.read(0, 1 << 20)
        if not chunk:
            self.open = False
            self.selector.unregister(0)
        *lines, self.unread = (self.unread + chunk).split(b"\n")
        self.waiting.extend(json.loads(line) for line in lines if line.strip())

    def start_children(self) -> None:
        while self.waiting and len(self.running) < self.jobs:
            self.import_learned()
            request = self.waiting.popleft()
            child = fork(partial(compute, request), request.get("limit", 120))
            self.running[child.pipe] = (request, child)
            self.selector.register(child.pipe, selectors.EVENT_READ)

    def import_learned(self) -> None:
        """Import what the children had to import, so that the next ones need not."""
        for name in sorted(self.modules - sys.modules.keys()):
            try:
                __import__(name)
            except Exception as error:  # a module that only imports where a case prepared the ground
                print(f"not warmed: {name}: {error}", file=sys.stderr)
                sys.modules.pop(name, None)
        if self.modules:
            self.modules.clear()
            gc.freeze()

    def listen(self, pipe: int) -> None:
        if not self.running[pipe][1].read():
            self.end(pipe, "the child ended without an answer")

    def stop_late_children(self) -> None:
        now = time.monotonic()
        for pipe in [p for p, (_, child) in self.running.items() if child.deadline < now]:
            self.end(pipe, "no answer in time", kill=True)

    def end(self, pipe: int, otherwise: str, *, kill: bool = False) -> None:
        request, child = self.running.pop(pipe)
        self.selector.unregister(pipe)
        value = child.finish(kill=kill) or {"answer": nothing(request, otherwise), "imported": []}
        self.modules.update(value["imported"])
        print(json.dumps({"id": request["id"], "answer": value["answer"]}), file=self.answers, flush=True)


def compute(request: dict[str, Any]) -> dict[str, Any]:
    """What a child sends: the answer, and the release's modules that it had to import."""
    from conformance.live.build import answer

    before = set(sys.modules)
    started = time.monotonic()
    value = answer(request["case"], request.get("stage", 0))
    value["seconds"] = round(time.monotonic() - started, 2)
    imported = [name for name in sys.modules if name not in before and name.startswith(LEARNED)]
    return {"answer": value, "imported": imported}


def nothing(request: dict[str, Any], message: str) -> dict[str, Any]:
    """The answer where there is none; it decides nothing."""
    return {
        "case": request["case"]["name"],
        "architecture": None,
        "class": None,
        "quantization": None,
        "error": {"stage": "child", "type": "NoAnswer", "message": message, "where": []},
        "draft_error": None,
        "decisions": [],
        "built": [],
        "separate": [],
        "warnings": [],
        "fused": {"target": None, "draft": None},
    }


def main() -> None:
    """Serve until there are no more requests."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the release prints to stdout, where only answers belong
    import_release()
    gc.freeze()
    Server(answers, int(sys.argv[1])).serve()


if __name__ == "__main__":
    main()
