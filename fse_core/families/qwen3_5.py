"""Qwen3.5, 3.6 and 3.8 with experts, their multimodal classes, and Intern-S2-Preview, which is built on them.

Source: model_executor/models/qwen3_5.py:142,328,703, qwen3_5_mtp.py:82 and interns2_preview.py:32 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.moe_layers import Defaults, draft_count, known, layer_count
from fse_core.families.qwen_layers import TEXT_NAMES, VISION_NAMES, gated_layers, require_shared_expert
from fse_core.names import GATE_UP
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.report import Failure
from fse_core.target import Target

_DEFAULTS: Defaults = {"num_hidden_layers": 40, "shared_expert_intermediate_size": 512}

_WRAPPERS = ("Qwen3_5MoeForConditionalGeneration", "InternS2PreviewForConditionalGeneration")

_CLASSES = ("Qwen3_5MoeForCausalLM", *_WRAPPERS)

_DRAFTING = ("qwen3_5_moe", "qwen3_5_moe_text", "intern_s2_preview")
"""Model types that vLLM makes an MTP draft of (config/speculative.py:991 at 0.33.0)."""


def _text_type(model: Model) -> str:
    """The language model's type, which decides between experts and a dense MLP in every layer."""
    return model.text.string("model_type", "qwen3_5_moe_text")


def _target_part(model: Model, architecture: str) -> Part:
    wrapped = architecture in _WRAPPERS
    root = "language_model." if wrapped else ""
    text_type = _text_type(model)
    count = layer_count(model.text, _DEFAULTS) if text_type == "qwen3_5_moe_text" else 0
    startup = Failure(type="ValueError", message=f"Invalid model_type {text_type}")
    return Part(
        model_class=architecture,
        layers=gated_layers(model.text, _DEFAULTS, range(count), f"{root}model.layers.{{i}}.mlp"),
        renames=(VISION_NAMES if wrapped else TEXT_NAMES,),
        packed=GATE_UP,
        startup=None if text_type in ("qwen3_5_moe_text", "qwen3_5_text") else startup,
    )


def _leaves_drafts_out(model: Model) -> bool:
    """Whether the block says that MTP layers are not quantized, in the way GPTQ's does ("-:" and a pattern).

    Source: model_executor/models/qwen3_5_mtp.py:111 at 0.33.0.
    """
    block = model.quantization
    if block is None or block.in_text or block.compression or block.fields.get("dynamic") is None:
        return False
    return any(key.startswith("-:") and "mtp" in key for key in block.fields.object("dynamic"))


def _draft_part(model: Model) -> Part | None:
    if model.model_type not in _DRAFTING or _text_type(model) != "qwen3_5_moe_text":
        return None
    indices = range(draft_count(model.text, "mtp_num_hidden_layers", 1))
    layers = gated_layers(model.text, _DEFAULTS, indices, "mtp.layers.{i}.mlp")
    if not layers:
        return None
    return Part(
        model_class="Qwen3_5MoeMTP",
        layers=layers,
        part="draft",
        packed=GATE_UP,
        quantization="none" if _leaves_drafts_out(model) else "inherited",
    )


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    require_shared_expert(model.text, _DEFAULTS, target, release)
    part = _target_part(model, known(model, _CLASSES))
    draft = _draft_part(model) if target.draft and part.layers else None
    return (part, draft) if draft else (part,)


FAMILY = Family(name="qwen3_5", architectures={name: name for name in _CLASSES}, parts=_parts)
