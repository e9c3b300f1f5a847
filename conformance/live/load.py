"""Lets the release load tiny checkpoints, and tells what its expert parameters then hold.

The model is built in memory, and the release's own load_weights runs over two fillings of the expert parameters: bytes
that differ afterwards were never written. Its quantizer of shared experts is a GPU kernel; this project's reference,
which has the same bytes, stands in for it. Nothing that the release does after loading is run.

In: lines such as `{"config": {...}, "tensors": FILE, "target": {...}, "rank": 0}`. Out: a line for each, in order.
"""

import hashlib
import json
import os
import selectors
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from conformance.live import built, ranks, rocm
from conformance.live.build import Attempt, described
from conformance.live.forks import fork
from conformance.live.server import import_release

FILLINGS = (0xA5, 0x5A)
LIMIT = 300.0
NO_ANSWER = {"stage": "child", "type": "NoAnswer", "message": "", "where": []}
Experts = Mapping[str, Mapping[str, torch.Tensor]]


class Load(Attempt):
    """One try at building and loading a checkpoint as one rank."""

    def __init__(self, question: Mapping[str, Any]) -> None:
        super().__init__({"name": "", **question}, 0)
        self.tensors: str = question["tensors"] or ""
        self.rank: int = question["rank"]
        self.loaded: dict[str, dict[str, dict[str, Any]]] = {}

    def prepare(self, config: Any) -> None:
        super().prepare(config)
        ranks.stand_at(self.rank)
        use_reference_quantizer()

    def build(self, config: Any, model_config: Any) -> None:
        from vllm.model_executor.model_loader.utils import initialize_model

        with rocm.on("cpu", config.model_config.dtype):
            model = initialize_model(vllm_config=config, model_config=model_config)
            self.answer["fused"]["target"] = built.enabled(model)
            self.at = "load"
            self.loaded = loaded(model, self.tensors)


def use_reference_quantizer() -> None:
    """Quantize on the CPU what the release would quantize with its kernel."""
    from vllm.model_executor.layers.quantization.online import base

    from fse_core.quantize import formats

    mxfp4 = replace(formats()["mxfp4"], backend="reference")

    def quantize(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        quantized = mxfp4.quantize(weight)
        return quantized.payload, quantized.scale

    for key, quantizer in base.ONLINE_SHARED_EXPERT_QUANTIZERS.items():
        assert quantizer.__name__ == "mxfp4_quantize", quantizer
        base.ONLINE_SHARED_EXPERT_QUANTIZERS[key] = quantize


def loaded(model: Any, file: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Each expert parameter's type, shape, sha256 over the first filling, and number of bytes left as they were."""
    return told(model, file, {name: parameters for name, parameters in _experts(model) if parameters})


def told(model: Any, file: str, experts: Experts) -> dict[str, dict[str, dict[str, Any]]]:
    """The same of these parameters of the model."""
    first, second = ([*filled(model, _tensors(file), experts, filling)] for filling in FILLINGS)
    answer: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in experts}
    for (module, name, one), (_, _, other) in zip(first, second, strict=True):
        parameter = experts[module][name]
        answer[module][name] = {
            "dtype": str(parameter.dtype).removeprefix("torch."),
            "shape": list(parameter.shape),
            "sha256": hashlib.sha256(one.numpy().tobytes()).hexdigest(),
            "untouched": int((one != other).sum()),
        }
    return answer


def _experts(model: Any) -> Iterator[tuple[str, Mapping[str, torch.Tensor]]]:
    """The fused parameters of each module that has some; those of its router are not among them."""
    for name, module in model.named_modules():
        own = module.named_parameters(recurse=False)
        yield name, {key: value for key, value in own if key.startswith(("w13", "w2"))}


def filled(
    model: Any,
    stored: Iterable[tuple[str, torch.Tensor]],
    experts: Experts,
    filling: int,
    after: Callable[[set[str] | None], None] | None = None,
) -> Iterator[tuple[str, str, torch.Tensor]]:
    """What the parameters hold, as bytes, after what is stored was loaded over `filling`. `after` is told the names
    of the parameters of which the release says that it loaded them.
    """
    for parameters in experts.values():
        for parameter in parameters.values():
            _raw(parameter).fill_(filling)
    named = model.load_weights(stored)
    if after is not None:
        after(named)
    for module, parameters in experts.items():
        for name, parameter in parameters.items():
            yield module, name, _raw(parameter).clone()


def _raw(parameter: torch.Tensor) -> torch.Tensor:
    return parameter.detach().contiguous().view(-1).view(torch.uint8)


def _tensors(file: str) -> Iterator[tuple[str, torch.Tensor]]:
    from safetensors import safe_open

    with safe_open(file, "pt") as opened:
        for name in opened.keys():  # noqa: SIM118  it is not a mapping
            yield name, opened.get_tensor(name)


def answered(question: Mapping[str, Any]) -> dict[str, Any]:
    """The release's answer to one question. Never raises: what the release raises is an answer."""
    attempt = Load(question)
    error = None
    try:
        attempt.run()
    except BaseException as raised:  # the release may also leave by SystemExit
        error = described(raised, attempt.at)
    return {"fused": attempt.answer["fused"]["target"], "error": error, "loaded": attempt.loaded}


def in_child(
    question: Mapping[str, Any], answer_to: Callable[[Mapping[str, Any]], dict[str, Any]] = answered
) -> dict[str, Any]:
    """The answer as a process of its own gives it, since a build leaves its traces."""
    child = fork(partial(answer_to, question), LIMIT)
    with selectors.DefaultSelector() as selector:
        selector.register(child.pipe, selectors.EVENT_READ)
        while (ready := selector.select(timeout=LIMIT)) and child.read():
            pass
    answer: dict[str, Any] | None = child.finish(kill=not ready)
    return answer or {"fused": None, "separate": False, "error": NO_ANSWER, "loaded": {}, "unset": {}}


def serve(answer_to: Callable[[Mapping[str, Any]], dict[str, Any]] = answered) -> None:
    """Answer until there are no more questions."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the release prints to stdout, where only answers belong
    import_release()
    for line in sys.stdin:
        print(json.dumps(in_child(json.loads(line), answer_to)), file=answers, flush=True)


if __name__ == "__main__":
    serve()
