"""What single vLLM classes asked about the shared expert's quantization before there was a gate for all."""

from collections.abc import Callable, Mapping

from fse_core.names import layer_index
from fse_core.quantization.base import Answer, Quantization, Question
from fse_core.quantization.quark import Quark


def _quark_mentions_shared_expert(quantization: Quantization | None, question: Question) -> Answer | None:
    """An entry about any layer's shared expert counts (model_executor/models/qwen3_next.py:93 at 0.28.0)."""
    listed = quantization.exclude if isinstance(quantization, Quark) else None
    if listed is None or not any("shared_expert." in entry for entry in listed.entries):
        return None
    return question.no("quark_mentions_shared_expert")


def _deepseek_v4_fp4(_quantization: Quantization | None, question: Question) -> Answer | None:
    """Whether the shared expert is stored as FP4; a no is silent (models/deepseek_v4/amd/model.py:157 at 0.28.0)."""
    no = Answer(ok=False)
    block = question.model.quantization
    if block is None or block.in_text or block.compression:
        return no
    index, layers = layer_index(question.shared), question.model.text.integer("num_hidden_layers")
    base = f"{f'mtp.{index - layers}' if index >= layers else f'layers.{index}'}.ffn.shared_experts"
    if any(isinstance(entry, str) and entry.startswith(base) for entry in block.fields.sequence("exclude", [])):
        return no
    exceptions = block.fields.object("layer_quant_config", {})
    own = f"{base}.w1"
    scheme = exceptions.object(own, {}) if exceptions.get(own) is not None else None
    if scheme is None:
        scheme = block.fields.object("global_quant_config", {})
    return None if scheme.object("weight", {}).get("dtype") == "fp4" else no


OWN: Mapping[str, Callable[[Quantization | None, Question], Answer | None]] = {
    "quark_mentions_shared_expert": _quark_mentions_shared_expert,
    "deepseek_v4_fp4": _deepseek_v4_fp4,
}
"""By the branch's name in the release's data (`gate.own`)."""
