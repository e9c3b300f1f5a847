"""Asks the release about one case: makes its engine config, builds the models, and gathers what was decided."""

import json
import os
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.live import built, ranks, rocm
from conformance.live.watch import Watch

FRAMES = 12
OPTIONS = {
    "tp": "tensor_parallel_size",
    "dp": "data_parallel_size",
    "pcp": "prefill_context_parallel_size",
    "pp": "pipeline_parallel_size",
    "ep": "enable_expert_parallel",
    "eplb": "enable_eplb",
    "dbo": "enable_dbo",
    "moe_backend": "moe_backend",
    "all2all_backend": "all2all_backend",
    "overlay": "quantization_config",
}
VOCABULARY = {"<unk>": 0, "<image>": 1}
TOKENIZER = {
    "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>"},
    "tokenizer.json": {
        "version": "1.0",
        "model": {"type": "WordLevel", "vocab": VOCABULARY, "unk_token": "<unk>"},
        "added_tokens": [
            {
                "id": number,
                "content": content,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for content, number in VOCABULARY.items()
        ],
    },
}
WANT_TOKENIZER = (
    "DeepseekOCRForCausalLM",
    "DeepseekOCR2ForCausalLM",
    "UnlimitedOCRForCausalLM",
    "DeepseekVLV2ForCausalLM",
)
"""Classes whose constructor looks a token up; others would want more files if a tokenizer were there."""

DRAFT = {"method": "mtp", "num_speculative_tokens": 1}


def answer(case: Mapping[str, Any], stage: int = 0) -> dict[str, Any]:
    """The release's answer to `case`, for one pipeline stage. Never raises: what the release raises is an answer."""
    attempt = Attempt(case, stage)
    try:
        attempt.run()
    except BaseException as error:  # the release may also leave by SystemExit
        attempt.answer["error"] = described(error, attempt.at)
    watch = attempt.watch
    built_experts = watch.experts + attempt.others
    warnings = [{"message": text, "count": count} for text, count in watch.warnings.items()]
    return attempt.answer | {"decisions": watch.decisions, "built": built_experts, "warnings": warnings}


def described(error: BaseException, stage: str) -> dict[str, Any]:
    """The exception, the stage at which it came, and the release's own frames that led to it."""
    fields = {"stage": stage, "type": type(error).__name__, "message": str(error), "where": frames(error)}
    cause = validated(error)
    return fields | ({"cause": cause} if cause else {})


def frames(error: BaseException) -> list[str]:
    """The last of the release's own frames: file, line, function."""
    summary = traceback.extract_tb(error.__traceback__)
    own = [f"{f.filename.rpartition('/vllm/')[2]}:{f.lineno} {f.name}" for f in summary if "/vllm/" in f.filename]
    return own[-FRAMES:]


def validated(error: BaseException) -> dict[str, Any] | None:
    """The exception that a pydantic ValidationError wraps, if it is one of those that wrap an exception."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return None
    wrapped = error.errors()[0].get("ctx", {}).get("error")
    if not isinstance(wrapped, Exception):
        return None
    return {"type": type(wrapped).__name__, "message": str(wrapped), "where": frames(wrapped)}


class Attempt:
    """One try at building a case; what was reached stays here when it ends early."""

    def __init__(self, case: Mapping[str, Any], stage: int) -> None:
        self.case = case
        self.target: Mapping[str, Any] = case.get("target") or {}
        self.stage = stage
        self.at = "config"
        self.watch = Watch()
        self.others: list[dict[str, Any]] = []
        self.answer: dict[str, Any] = {
            "case": case["name"],
            "architecture": None,
            "class": None,
            "quantization": None,
            "error": None,
            "draft_error": None,
            "fused": {"target": None, "draft": None},
            "separate": [],
        }

    def run(self) -> None:
        use_environment(self.target.get("environment") or {})
        self.watch.install()
        with tempfile.TemporaryDirectory() as folder:
            write_model(Path(folder), self.case)
            config = self.configure(folder)
            self.answer["architecture"] = config.model_config.architecture
            self.answer["quantization"] = None if config.quant_config is None else type(config.quant_config).__name__
            self.prepare(config)
            self.build_target(config)
            last = self.stage == config.parallel_config.pipeline_parallel_size - 1
            if config.speculative_config is not None and last:
                self.build_draft(config)

    def configure(self, folder: str) -> Any:
        """The engine config, with a draft where the case asks for one and the release knows one."""
        if self.target.get("draft", True):
            try:
                return engine_config(folder, self.target, draft=True)
            except Exception as error:
                self.answer["draft_error"] = described(error, "draft_config")
        return engine_config(folder, self.target, draft=False)

    def prepare(self, config: Any) -> None:
        from vllm.v1.worker.workspace import init_workspace_manager

        self.at = "distributed"
        self.watch.take_log()
        ranks.initialize()
        ranks.pass_for(config.parallel_config, self.stage)
        init_workspace_manager("meta")
        rocm.mock_absent_operators()

    def build_target(self, config: Any) -> None:
        from vllm.config import set_current_vllm_config
        from vllm.model_executor.model_loader.utils import get_model_architecture

        with set_current_vllm_config(config):
            self.at = "class"
            model_class, _ = get_model_architecture(config.model_config)
            self.answer["class"] = f"{model_class.__module__}.{model_class.__name__}"
            self.at = "build"
            self.build(config, config.model_config)

    def build_draft(self, config: Any) -> None:
        from vllm.config import set_current_vllm_config

        self.watch.part = "draft"
        try:
            with set_current_vllm_config(config):
                self.build(config, config.speculative_config.draft_model_config)
        except Exception as error:
            self.answer["draft_error"] = described(error, "draft")

    def build(self, config: Any, model_config: Any) -> None:
        from vllm.model_executor.model_loader.utils import initialize_model

        part = self.watch.part
        with rocm.on("meta", config.model_config.dtype):
            model = initialize_model(vllm_config=config, model_config=model_config)
        self.others += built.other_experts(model, part)
        self.answer["fused"][part] = built.enabled(model)
        self.answer["separate"] += built.separate(model, part)


def use_environment(variables: Mapping[str, str]) -> None:
    """Set the case's variables, and let what the release froze at import see them."""
    from vllm._aiter_ops import rocm_aiter_ops

    os.environ.update(variables)
    rocm_aiter_ops.refresh_env_variables()


def write_model(folder: Path, case: Mapping[str, Any]) -> None:
    """The files of a checkpoint that a constructor may want; only the first two bear on the decisions."""
    files = {"config.json": case["config"], "hf_quant_config.json": case.get("hf_quant_config")}
    for name, content in (files | TOKENIZER).items():
        if content is not None:
            (folder / name).write_text(json.dumps(content))


def engine_config(folder: str, target: Mapping[str, Any], *, draft: bool) -> Any:
    """What the release's command line would make of the target's options."""
    from vllm.engine.arg_utils import EngineArgs

    options = {name: target[key] for key, name in OPTIONS.items() if target.get(key) is not None}
    architectures = json.loads((Path(folder) / "config.json").read_text()).get("architectures") or [""]
    return EngineArgs(
        model=folder,
        tokenizer=folder,
        skip_tokenizer_init=architectures[0] not in WANT_TOKENIZER,
        load_format="dummy",
        enforce_eager=True,
        max_model_len=4096,
        speculative_config=dict(DRAFT) if draft else None,
        **options,
    ).create_engine_config()
