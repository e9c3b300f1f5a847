"""Lets the release load tiny checkpoints, with this project's plugin beside it or without, and tells what came of it.

The plugin is found as in a container: by the release's own plugin loader, from an installed package's entry points.
Of every expert's parameters, fused or of a separate shared expert, the sha256 is told and how many bytes loading left
as they were, over two fillings. The release loads each checkpoint twice.

In: lines such as `{"config": {...}, "tensors": FILE, "target": {...}, "rank": 0, "site": FOLDER or null}`; "site" is
where the plugin's package is installed. Without a file of tensors the model is built on the meta device, and not
loaded. Out: a line for each, in order.
"""

import gc
import importlib
import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from conformance.live import built, load, ranks, rocm
from conformance.live.build import described, use_environment, write_model
from conformance.live.load import Load
from conformance.live.server import import_release

SHARED = ("shared_expert", "shared_experts")
LEARNED = ("vllm.", "transformers.", "fse_core.")
QUIET = "none"
"""A list of allowed plugins that allows none."""


class Heard(logging.Handler):
    """What the plugin says, and what the release says about fusion and online quantization."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.name == "vllm.fse" or "FUSION_SHARED_EXPERTS" in message:
            self.lines.append(message)


class Plugged(Load):
    """One try at building and loading a checkpoint."""

    def __init__(self, question: Mapping[str, Any]) -> None:
        super().__init__(question)
        self.site: str | None = question["site"]
        self.heard = Heard()
        self.slots: dict[str, int] = {}
        self.key = ""

    def run(self) -> None:
        use_environment({"VLLM_PLUGINS": "fse" if self.site else QUIET, **self.target.get("environment", {})})
        if self.site:
            sys.path.append(self.site)
        self.listen()
        with TemporaryDirectory() as folder:
            write_model(Path(folder), self.case)
            if self.tensors:
                Path(folder, "model.safetensors").symlink_to(self.tensors)
            config = self.configure(folder)
            self.prepare(config)
            self.listen()  # the release has set its log up anew
            self.build_target(config)

    def listen(self) -> None:
        release = logging.getLogger("vllm")
        release.handlers, release.propagate = [self.heard], False
        release.setLevel(logging.INFO)
        logging.disable(logging.NOTSET)

    def prepare(self, config: Any) -> None:
        from vllm.v1.worker.workspace import init_workspace_manager

        self.at = "distributed"
        ranks.initialize()
        ranks.pass_for(config.parallel_config, 0)
        ranks.stand_at(self.rank)
        init_workspace_manager("meta")
        rocm.mock_absent_operators()
        with suppress(ImportError, AttributeError):  # a release without online quantization of shared experts
            load.use_reference_quantizer()

    def build(self, config: Any, model_config: Any) -> None:
        from vllm.model_executor.model_loader.utils import initialize_model

        with rocm.on("cpu" if self.tensors else "meta", config.model_config.dtype):
            model = initialize_model(vllm_config=config, model_config=model_config)
            self.key = config.compute_hash()
            self.answer["fused"]["target"] = built.enabled(model)
            self.slots = dict(_slots(model))
            if not self.tensors:
                return
            self.at = "load"
            self.loaded = load.told(model, self.tensors, dict(_parameters(model)))


def _slots(model: Any) -> Iterator[tuple[str, int]]:
    for name, module in model.named_modules():
        manager = getattr(module, "expert_map_manager", None)
        if manager is not None:
            yield name, manager.num_fused_shared_experts


def _parameters(model: Any) -> Iterator[tuple[str, Mapping[str, torch.Tensor]]]:
    """The fused parameters, and those of shared experts that are modules of their own."""
    for name, module in model.named_modules():
        own = dict(module.named_parameters(recurse=False))
        fused = {key: value for key, value in own.items() if key.startswith(("w13", "w2"))}
        if fused:
            yield name, fused
        elif own and any(part in SHARED for part in name.split(".")):
            yield name, own


def answered(question: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one question. Never raises: what the release raises is an answer."""
    before = set(sys.modules)
    attempt = Plugged(question)
    error = None
    try:
        attempt.run()
    except BaseException as raised:  # the release may also leave by SystemExit
        error = described(raised, attempt.at)
    return {
        "error": error,
        "slots": attempt.slots,
        "loaded": attempt.loaded,
        "lines": attempt.heard.lines,
        "key": attempt.key,
        "touched": touched(),
        "imported": [name for name in sys.modules if name not in before and name.startswith(LEARNED)],
    }


def touched() -> dict[str, str]:
    """What became of each function that the plugin knows of; nothing where the plugin did not start."""
    installed = sys.modules.get("fse_core.vllm_plugin.installed")
    return {} if installed is None else dict(installed.HERE.states)


def learn(modules: Iterable[str]) -> None:
    """Import what a child had to import, so that the next ones need not. The plugin's functions stay the release's."""
    for name in modules:
        with suppress(Exception):  # a module that only imports where a question prepared the ground
            importlib.import_module(name)
    gc.freeze()


def main() -> None:
    """Answer until there are no more questions."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the release prints to stdout, where only answers belong
    import_release()
    for line in sys.stdin:
        answer = load.in_child(json.loads(line), answered)
        learn(answer.pop("imported", ()))
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
