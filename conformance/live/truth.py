"""Lets the release load whole folders, as it chooses their files, and tells what it never wrote.

Like `load`, with two differences: the folder's files are those that the release's own loader picks by the index, and
what is looked at are the routed experts and the shared experts that were built as modules of their own.

In: lines such as `{"config": {...}, "folder": PATH, "target": {...}, "rank": 0}`. Out: a line for each, in order.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from conformance.live import built, ranks, rocm
from conformance.live.build import Attempt, described
from conformance.live.load import FILLINGS, filled, serve, use_reference_quantizer

Modules = Mapping[str, Mapping[str, torch.Tensor]]


class LoadFolder(Attempt):
    """One try at building and loading a folder as one rank. `unset` are the bytes left and there, by parameter."""

    def __init__(self, question: Mapping[str, Any]) -> None:
        super().__init__({"name": "", **question}, 0)
        self.folder: str = question["folder"]
        self.rank: int = question["rank"]
        self.unset: dict[str, tuple[int, int]] = {}

    def prepare(self, config: Any) -> None:
        super().prepare(config)
        ranks.stand_at(self.rank)
        if _quantizes_online():
            use_reference_quantizer()

    def build(self, config: Any, model_config: Any) -> None:
        from vllm.model_executor.model_loader.utils import initialize_model

        with rocm.on("cpu", config.model_config.dtype):
            model = initialize_model(vllm_config=config, model_config=model_config)
            self.answer["fused"]["target"] = built.enabled(model)
            self.answer["separate"] = built.separate(model, "target")
            self.at = "load"
            self.unset = unset(model, self.folder)


def _quantizes_online() -> bool:
    try:
        from vllm.model_executor.layers.quantization.online import base
    except ImportError:
        return False
    return hasattr(base, "ONLINE_SHARED_EXPERT_QUANTIZERS")


def unset(model: Any, folder: str) -> dict[str, tuple[int, int]]:
    """Of each expert parameter that has such: how many bytes loading left as they were, and of how many."""
    modules = dict(_modules(model))
    first, second = ([*filled(model, _tensors(folder), modules, filling)] for filling in FILLINGS)
    counts = {}
    for (module, name, one), (_, _, other) in zip(first, second, strict=True):
        left = int((one != other).sum())
        if left:
            counts[f"{module}.{name}"] = (left, one.numel())
    return counts


def _modules(model: Any) -> Iterator[tuple[str, dict[str, torch.Tensor]]]:
    """The modules whose weights the checkpoints hold: no router, and no gate of a shared expert."""
    for name, module in model.named_modules():
        own = dict(module.named_parameters(recurse=False))
        shared = any(part in built.SHARED for part in name.split(".")) and not name.endswith("gate")
        if shared or any(key.startswith("w13") for key in own):
            yield name, {key: value for key, value in own.items() if shared or key.startswith(("w13", "w2"))}


def _tensors(folder: str) -> Iterator[tuple[str, torch.Tensor]]:
    from safetensors import safe_open
    from vllm.config.load import LoadConfig
    from vllm.model_executor.model_loader.default_loader import DefaultModelLoader

    loader = DefaultModelLoader(LoadConfig(load_format="safetensors"))
    files = loader._prepare_weights(folder, None, None, False, None)[1]
    for file in sorted(files):
        with safe_open(file, "pt") as opened:
            for name in opened.keys():  # noqa: SIM118  it is not a mapping
                yield name, opened.get_tensor(name)


def answered(question: Mapping[str, Any]) -> dict[str, Any]:
    """The release's answer to one question. Never raises: what the release raises is an answer."""
    attempt = LoadFolder(question)
    error = None
    try:
        attempt.run()
    except BaseException as raised:  # the release may also leave by SystemExit
        error = described(raised, attempt.at)
    fused = attempt.answer["fused"]["target"]
    separate = bool(attempt.answer["separate"])
    return {"fused": fused, "separate": separate, "error": error, "unset": attempt.unset}


if __name__ == "__main__":
    serve(answered)
