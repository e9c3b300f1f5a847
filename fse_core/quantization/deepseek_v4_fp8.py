"""DeepseekV4FP8Config: native DeepSeek-V4 and V4.1 checkpoints, FP8 with FP4 or FP8 experts."""

from dataclasses import dataclass
from typing import ClassVar, Self

from fse_core.errors import ReleaseRaises
from fse_core.names import layer_index
from fse_core.quantization.base import YES, Answer, Question
from fse_core.quantization.fp8 import Fp8
from fse_core.quantization.keys import MXFP4_STATIC, QuantKey
from fse_core.quantization.regexes import compile_pattern
from fse_core.quantization.storage import Stored
from fse_core.read.expert_dtype import expert_dtype, is_v41
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release

_EXPERT_DTYPES = ("fp4", "fp8")


@dataclass(frozen=True, kw_only=True)
class DeepseekV4Fp8(Fp8):
    """The experts' dtype is the model config's, FP4 where absent.

    Source: models/deepseek_v41/quant_config.py:36 at 0.33.0.

    Of FP4 experts the gate asks Quark's MXFP4 scheme. Quark's own checkpoints are read by Quark's class, so that in
    practice the answer is no; a block that mixes both dialects still gets through.
    """

    class_name: ClassVar[str] = "DeepseekV4FP8Config"

    experts: object

    @classmethod
    def parse(cls, fields: Fields, model: Model, release: Release) -> Self:
        plain = Fp8.parse(_from_quark(fields), model, release)
        return cls(
            ignored_layers=plain.ignored_layers,
            block=plain.block,
            store_dtype=plain.store_dtype,
            experts=expert_dtype(model),
        )

    def on_linear(self) -> ReleaseRaises | None:
        """The scales' dtype hangs on the experts', so that an unknown one ends the start at the first module."""
        if self.experts in _EXPERT_DTYPES:
            return None
        return ReleaseRaises(
            "ValueError",
            f"Unsupported DeepSeek V4 expert_dtype={self.experts!r}; expected one of {_EXPERT_DTYPES}.",
        )

    def gate(self, branch: str, question: Question) -> Answer | None:
        """Plain FP8's branch answers where its own says nothing of FP8 experts, or is never reached."""
        if branch != self.class_name:
            return super().gate(branch, question)
        if self.experts != "fp4":
            return question.no("deepseek_v4_routed") if "deepseek_v4_routed" in question.release.words else None
        block = question.model.quantization
        # V4.1's config class lays its text config flat, so that its block stands where the gate looks.
        elsewhere = block is not None and block.in_text and not is_v41(question.model)
        if block is None or elsewhere or block.compression:
            return question.no("deepseek_v4_no_block")
        return _quark_scheme(block.fields, question)

    def stored(self, question: Question) -> Stored | None:
        """FP4 experts are another format than the block's, and no list says so."""
        return None if self.experts == "fp4" else super().stored(question)

    def routed_keys(self, question: Question) -> tuple[QuantKey | None, QuantKey | None] | None:
        if self.experts == "fp4" and question.backend == "aiter_mega_moe":
            return MXFP4_STATIC, None
        return None


def _from_quark(fields: Fields) -> Fields:
    """Quark's block in the words of FP8's, where the class reads that too (models/deepseek_v4/quant_config.py:159)."""
    if fields.get("quant_method") != "quark":
        return fields
    ignored = [name for name in fields.sequence("exclude", []) if isinstance(name, str)]
    block = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
    return Fields({**block, "ignored_layers": ignored}, fields.path)


def quark_stores_mxfp4(fields: Fields) -> bool:
    """Whether the global scheme of Quark's block is MXFP4."""
    config = fields.get("global_quant_config")
    weight = config.get("weight") if isinstance(config, dict) else None
    scheme = {"dtype": "fp4", "qscheme": "per_group", "group_size": 32}
    return isinstance(weight, dict) and all(weight.get(key) == value for key, value in scheme.items())


def _quark_scheme(fields: Fields, question: Question) -> Answer:
    """Source: model_executor/layers/quantization/utils/config_utils.py:191 at 0.33.0; names as in the checkpoint."""
    global_config = fields.object("global_quant_config", {})
    if not quark_stores_mxfp4(fields):
        return question.no("deepseek_v4_not_quark")
    index, layers = layer_index(question.shared), question.model.text.integer("num_hidden_layers")
    place = f"mtp.{index - layers}" if index >= layers else f"layers.{index}"
    shared = f"{place}.ffn.shared_experts"
    if any(isinstance(e, str) and e.startswith(shared) for e in fields.sequence("exclude", [])):
        return Answer(ok=False, reason=question.release.say("deepseek_v4_excludes", shared=shared))
    layer_configs = fields.object("layer_quant_config", {})
    name = f"{shared}.w1"
    if layer_configs.get(name) is None:
        patterns = (p for p in layer_configs if p.startswith("re:"))
        name = next((p for p in patterns if compile_pattern(p[3:]).fullmatch(name)), name)
    config = layer_configs.object(name, {})
    scheme = (config if config.raw else global_config).object("weight", {})
    if scheme.get("dtype") == "fp4":
        return YES
    return Answer(ok=False, reason=question.release.say("deepseek_v4_not_mxfp4", shared=shared))


CLASS = DeepseekV4Fp8
