"""Lets the release load whole folders, as it chooses their files, and tells what it never wrote.

Like `load`, with two differences: the folder's files are those that the release's own loader picks by the index, and
what is looked at are the routed experts and the shared experts that were built as modules of their own.

A draft is loaded from the same folder, by its own class, where the target asks for one.

In: lines such as `{"config": {...}, "folder": PATH, "target": {...}, "rank": 0}`. Out: a line for each, in order.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import torch

from conformance.live import built, ranks, rocm
from conformance.live.build import Attempt, described
from conformance.live.load import FILLINGS, filled, serve, use_reference_quantizer

Modules = Mapping[str, Mapping[str, torch.Tensor]]


@dataclass(kw_only=True)
class Loaded:
    """What became of one part. `unset` are the bytes left and there, by parameter."""

    fused: list[bool] | None = None
    separate: bool = False
    error: dict[str, Any] | None = None
    unset: dict[str, tuple[int, int]] = field(default_factory=dict)


class LoadFolder(Attempt):
    """One try at building and loading a folder as one rank: the target, and a draft where there is one."""

    def __init__(self, question: Mapping[str, Any]) -> None:
        super().__init__({"name": "", **question}, 0)
        self.folder: str = question["folder"]
        self.rank: int = question["rank"]
        self.parts: dict[str, Loaded] = {}

    def prepare(self, config: Any) -> None:
        super().prepare(config)
        ranks.stand_at(self.rank)
        if _quantizes_online():
            use_reference_quantizer()

    def build_draft(self, config: Any) -> None:
        self.at = "build"
        super().build_draft(config)

    def build(self, config: Any, model_config: Any) -> None:
        from vllm.model_executor.model_loader.utils import initialize_model

        part = self.parts.setdefault(self.watch.part, Loaded())
        with rocm.on("cpu", config.model_config.dtype):
            model = initialize_model(vllm_config=config, model_config=model_config)
            part.fused = built.enabled(model)
            part.separate = bool(built.separate(model, self.watch.part))
            self.at = "load"
            part.unset = unset(model, self.folder, tracks=model_config.quantization is None)

    def draft(self) -> dict[str, Any] | None:
        """What became of the draft, None where it was not asked for or not reached."""
        error = self.answer["draft_error"]
        if error is None:
            return asdict(self.parts["draft"]) if "draft" in self.parts else None
        at = self.at if error["stage"] == "draft" else error["stage"]
        return asdict(replace(self.parts.get("draft", Loaded()), error={**error, "stage": at}))


def _quantizes_online() -> bool:
    try:
        from vllm.model_executor.layers.quantization.online import base
    except ImportError:
        return False
    return hasattr(base, "ONLINE_SHARED_EXPERT_QUANTIZERS")


def unset(model: Any, folder: str, *, tracks: bool) -> dict[str, tuple[int, int]]:
    """Of each expert parameter that has such: how many bytes loading left as they were, and of how many.

    `tracks`: the release's loader demands that each parameter was named as loaded, as it does of what is not quantized
    (model_executor/model_loader/default_loader.py:525 at 0.33.0).
    """
    modules = dict(_modules(model))
    after = partial(_track, model, modules) if tracks else None
    first, second = ([*filled(model, _tensors(folder), modules, filling, after)] for filling in FILLINGS)
    counts = {}
    for (module, name, one), (_, _, other) in zip(first, second, strict=True):
        left = int((one != other).sum())
        if left:
            counts[f"{module}.{name}"] = (left, one.numel())
    return counts


def _track(model: Any, modules: Modules, loaded: set[str] | None) -> None:
    """The release's own check, as if all else were there beside the experts, or nothing where nothing was loaded."""
    if loaded is not None:
        own = {f"{module}.{name}" for module, parameters in modules.items() for name in parameters}
        others = {name for name, _ in model.named_parameters()} - own
        _loader().track_weights_loading(model, loaded | others if loaded else set())


def _loader() -> Any:
    from vllm.config.load import LoadConfig
    from vllm.model_executor.model_loader.default_loader import DefaultModelLoader

    return DefaultModelLoader(LoadConfig(load_format="safetensors"))


def _modules(model: Any) -> Iterator[tuple[str, dict[str, torch.Tensor]]]:
    """The modules whose weights the checkpoints hold: no router, and no gate of a shared expert."""
    for name, module in model.named_modules():
        own = dict(module.named_parameters(recurse=False))
        shared = any(part in built.SHARED for part in name.split(".")) and not name.endswith("gate")
        if shared or any(key.startswith("w13") for key in own):
            yield name, {key: value for key, value in own.items() if shared or key.startswith(("w13", "w2"))}


def _tensors(folder: str) -> Iterator[tuple[str, torch.Tensor]]:
    from safetensors import safe_open

    files = _loader()._prepare_weights(folder, None, None, False, None)[1]
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
    target = replace(attempt.parts.get("target", Loaded()), error=error)
    return {**asdict(target), "draft": attempt.draft()}


if __name__ == "__main__":
    serve(answered)
