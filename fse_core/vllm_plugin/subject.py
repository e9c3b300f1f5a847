"""The question that a start of vLLM is: which model, on which release, GPU and options."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fse_core import releases
from fse_core.errors import FseError
from fse_core.headers import with_headers
from fse_core.read.model import Model
from fse_core.read.source import model_from_dict, read_model
from fse_core.report import PartName, Source
from fse_core.request import AITER, AITER_MOE, FUSION
from fse_core.target import Target
from fse_core.vllm_plugin import log
from fse_core.vllm_plugin.start import vllm_version


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One model instance that vLLM is about to build. The model has its headers where they could be read."""

    model: Model
    target: Target
    part: PartName


def of(vllm_config: Any, model_config: Any) -> Subject | None:
    """The subject, None where it is a draft of another checkpoint, which is left to the release."""
    whole = vllm_config.model_config
    part: PartName = "target"
    speculative = vllm_config.speculative_config
    draft = None if speculative is None else speculative.draft_model_config
    if model_config is not None and model_config is not whole:
        if model_config is not draft or draft.model != whole.model:
            return None
        part = "draft"
    folder = _folder(whole)
    model = _with_headers(_model(whole, folder), folder)
    return Subject(model=model, target=_target(vllm_config), part=part)


def _folder(model_config: Any) -> str | None:
    if os.path.isdir(model_config.model):
        return str(model_config.model)
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(model_config.model, "config.json", revision=model_config.revision)
    return os.path.dirname(found) if isinstance(found, str) else None


def _model(model_config: Any, folder: str | None) -> Model:
    """As the files say, unless the operator has changed the config on the command line."""
    if folder is None or getattr(model_config, "hf_overrides", None):
        return model_from_dict(model_config.hf_config.to_dict(), id=str(model_config.model))
    return read_model(folder)


def _with_headers(model: Model, folder: str | None) -> Model:
    """The model with all headers of its checkpoint, where that is on this machine and can be read."""
    if folder is None:
        return model
    try:
        return with_headers(replace(model, source=Source(kind="path", id=folder)), "full", ())
    except FseError as error:
        log.info("the checkpoint's headers are not looked at: %s", error)
        return model


def _target(vllm_config: Any) -> Target:
    parallel = vllm_config.parallel_config
    kernel = getattr(vllm_config, "kernel_config", None)
    version = vllm_version()
    return Target(
        vllm=version,
        gfx=gfx(),
        tp=parallel.tensor_parallel_size,
        ep=parallel.enable_expert_parallel,
        dp=parallel.data_parallel_size,
        pcp=getattr(parallel, "prefill_context_parallel_size", 1),
        pp=parallel.pipeline_parallel_size,
        moe_backend=getattr(kernel, "moe_backend", "auto"),
        all2all_backend=parallel.all2all_backend if parallel.data_parallel_size > 1 else None,
        eplb=parallel.enable_eplb,
        environment=_environment(version),
        overlay=_overlay(vllm_config.quant_config),
    )


def _environment(version: str) -> Mapping[str, str]:
    defaults = {AITER: "0", AITER_MOE: "1", FUSION: "0", **releases.load(version).environment}
    return {name: os.environ.get(name, default) for name, default in defaults.items()}


def gfx() -> str:
    """The GPU's architecture, without its features: `gfx950`."""
    import torch

    return str(torch.cuda.get_device_properties(0).gcnArchName).partition(":")[0]


def _overlay(quant_config: Any) -> Mapping[str, Any] | None:
    """What --quantization-config asks for on top of the checkpoint's own quantization, as far as it has targets."""
    online = getattr(quant_config, "online_quantization_config", None)
    arguments = getattr(online, "args", None)
    targets = getattr(arguments, "targets", None)
    if not targets:
        return None
    ignored = list(getattr(arguments, "ignore", None) or ())
    return {"targets": dict(targets)} | ({"ignore": ignored} if ignored else {})
