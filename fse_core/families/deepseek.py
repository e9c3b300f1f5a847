"""DeepSeek V2 and V3, Kimi-K2, Mistral-Large-3, and the multimodal classes that wrap them.

Source: model_executor/models/deepseek_v2.py:291,1249,1872, kimi_k25.py:291, kimi_vl.py:294, pixtral.py:349,
mistral3.py:418, deepseek_ocr.py:362, deepseek_ocr2.py:234 and deepseek_vl2.py:345 at 0.33.0.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fse_core.errors import Undecided
from fse_core.families.base import Family, Part
from fse_core.families.deepseek_layers import DEFAULTS, draft_part, target_part
from fse_core.families.eagle_mistral_large_3 import eagle_part
from fse_core.families.mistral_large_3_names import MISTRAL_NAMES
from fse_core.families.moe_layers import known
from fse_core.names import GATE_UP, Rename, Renames
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_ALONE = {
    "DeepseekForCausalLM": "DeepseekForCausalLM",
    "DeepseekV2ForCausalLM": "DeepseekV2ForCausalLM",
    "DeepseekV3ForCausalLM": "DeepseekV3ForCausalLM",
    "DeepseekV3BidirectionalModel": "DeepseekV3ForCausalLM",
    "MistralLarge3ForCausalLM": "MistralLarge3ForCausalLM",
}

_ARCHITECTURE_OF = {
    "deepseek_v2": "DeepseekV2ForCausalLM",
    "deepseek_v3": "DeepseekV3ForCausalLM",
    "mistral": "MistralForCausalLM",
    "ministral": "MinistralForCausalLM",
    "ministral3": "Ministral3ForCausalLM",
}
"""What an inner config without `architectures` is built as, by its model type (config/vllm.py:972 at 0.33.0)."""

_DENSE = {"MistralForCausalLM", "MinistralForCausalLM", "Ministral3ForCausalLM", "LlamaForCausalLM"}


@dataclass(frozen=True, kw_only=True)
class _Wrapper:
    """A multimodal class. `config_class` is the model type whose defaults its language model's config has,
    `inner` its language model's class, where those do not come from the file.
    """

    root: str = "language_model."
    renames: tuple[Rename, ...] = ()
    config_class: str | None = None
    inner: str | None = None


_OCR = _Wrapper(
    config_class="deepseek_v2",
    renames=(
        Renames(
            prefix={
                "model.embed_tokens.": "language_model.model.embed_tokens.",
                "model.layers.": "language_model.model.layers.",
                "model.norm.": "language_model.model.norm.",
                "lm_head.": "language_model.lm_head.",
                "model.": "",
            }
        ),
    ),
)

_WRAPPERS: Mapping[str, _Wrapper] = {
    "KimiK25ForConditionalGeneration": _Wrapper(
        inner="DeepseekV2ForCausalLM",
        config_class="deepseek_v3",
        renames=(
            Renames(
                prefix={
                    "language_model.layers.": "language_model.model.layers.",
                    "mm_projector.proj.0": "mm_projector.linear_1",
                    "mm_projector.proj.2": "mm_projector.linear_2",
                }
            ),
        ),
    ),
    "KimiVLForConditionalGeneration": _Wrapper(inner="DeepseekV2ForCausalLM", config_class="deepseek_v2"),
    "PixtralForConditionalGeneration": _Wrapper(
        renames=(
            Renames(
                substring={".linear_1.": ".w_in.", ".linear_2.": ".w_out."},
                prefix={
                    "model.language_model.": "language_model.model.",
                    "model.vision_tower.": "vision_encoder.",
                    "model.multi_modal_projector.": "vision_language_adapter.",
                },
            ),
        ),
    ),
    "Mistral3ForConditionalGeneration": _Wrapper(
        renames=(
            Renames(
                prefix={
                    "model.language_model.": "language_model.model.",
                    "model.vision_tower.": "vision_tower.",
                    "model.multi_modal_projector.": "multi_modal_projector.",
                    "lm_head.": "language_model.lm_head.",
                    "model.": "language_model.model.",
                },
                suffix={".activation_scale": ".input_scale", ".weight_scale_inv": ".weight_scale"},
            ),
        ),
    ),
    "DeepseekOCRForCausalLM": _OCR,
    "DeepseekOCR2ForCausalLM": _OCR,
    "UnlimitedOCRForCausalLM": _OCR,
    "DeepseekVLV2ForCausalLM": _Wrapper(
        # The module is called `language`, while the names in the block are changed the other way.
        root="language.",
        config_class="deepseek_v2",
        renames=(Renames(prefix={"language.": "language_model."}),),
    ),
}

_CLASSES = {**_ALONE, **{name: name for name in _WRAPPERS}}


def _own_renames(model_class: str) -> tuple[Rename, ...]:
    return (MISTRAL_NAMES,) if model_class == "MistralLarge3ForCausalLM" else ()


def _alone(model: Model, architecture: str, target: Target) -> tuple[Part, ...]:
    model_class = _ALONE[architecture]
    defaults = DEFAULTS.get(model.model_type, {})
    part = target_part(model_class, model.config, defaults, renames=_own_renames(model_class), packed=GATE_UP)
    eagle = model_class == "MistralLarge3ForCausalLM"
    draft = (eagle_part(model) if eagle else draft_part(model)) if target.draft else None
    return (part, draft) if draft else (part,)


def _inner_class(model: Model, wrapper: _Wrapper) -> str:
    if wrapper.inner is not None:
        return wrapper.inner
    names = model.text.strings("architectures", [])
    model_type = wrapper.config_class or model.text.string("model_type", "mistral")
    return names[0] if names else _ARCHITECTURE_OF.get(model_type, model_type)


def _wrapped(model: Model, architecture: str) -> tuple[Part, ...]:
    wrapper = _WRAPPERS[architecture]
    inner = _inner_class(model, wrapper)
    if inner in _DENSE:
        return (Part(model_class=architecture, layers=()),)
    if inner not in _ALONE:
        raise Undecided(f"{architecture} around {inner} is not known")
    defaults = DEFAULTS.get(wrapper.config_class or model.text.optional_string("model_type"), {})
    part = target_part(
        architecture,
        model.text,
        defaults,
        root=wrapper.root,
        renames=wrapper.renames + _own_renames(inner),
        packed=GATE_UP,
    )
    return (part,)


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    architecture = known(model, _CLASSES)
    return _wrapped(model, architecture) if architecture in _WRAPPERS else _alone(model, architecture, target)


FAMILY = Family(name="deepseek", architectures=_CLASSES, parts=_parts)
