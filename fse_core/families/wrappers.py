"""Multimodal classes whose language model is whatever the text config names: its own family answers, below a root.

Source: vllm/model_executor/models/utils.py:624 and config/vllm.py:964 at 0.33.0. Wrappers that always build one kind of
language model stand in that model's family. Drafts are not built from these configs.
"""

from dataclasses import replace

from fse_core.errors import Undecided
from fse_core.families import families
from fse_core.families.base import Family, Part
from fse_core.families.inner_architectures import ARCHITECTURE_OF
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASSES = {
    "BeeForConditionalGeneration": "BeeForConditionalGeneration",
    "Blip2ForConditionalGeneration": "Blip2ForConditionalGeneration",
    "Cohere2VisionForConditionalGeneration": "Cohere2VisionForConditionalGeneration",
    "ColPaliForRetrieval": "ColPaliModel",
    "Eagle2_5_VLForConditionalGeneration": "Eagle2_5_VLForConditionalGeneration",
    "GraniteSpeechForConditionalGeneration": "GraniteSpeechForConditionalGeneration",
    "GraniteSpeechPlusForConditionalGeneration": "GraniteSpeechPlusForConditionalGeneration",
    "H2OVLChatModel": "H2OVLChatModel",
    "HCXVisionV2ForCausalLM": "HCXVisionV2ForCausalLM",
    "InternS1ForConditionalGeneration": "InternS1ForConditionalGeneration",
    "InternVLChatModel": "InternVLChatModel",
    "InternVLForConditionalGeneration": "InternS1ForConditionalGeneration",
    "Lfm2VlForConditionalGeneration": "Lfm2VLForConditionalGeneration",
    "LightOnOCRForConditionalGeneration": "LightOnOCRForConditionalGeneration",
    "LlamaNemotronVLForSequenceClassification": "LlamaNemotronVLForSequenceClassification",
    "LlamaNemotronVLModel": "LlamaNemotronVLForEmbedding",
    "Llama_Nemotron_Nano_VL": "LlamaNemotronVLChatModel",
    "LlavaForConditionalGeneration": "LlavaForConditionalGeneration",
    "LlavaNextForConditionalGeneration": "LlavaNextForConditionalGeneration",
    "LlavaNextVideoForConditionalGeneration": "LlavaNextVideoForConditionalGeneration",
    "LlavaOnevisionForConditionalGeneration": "LlavaOnevisionForConditionalGeneration",
    "NVLM_D": "NVLM_D_Model",
    "OpenVLAForActionPrediction": "OpenVLAForActionPrediction",
    "Ovis": "Ovis",
    "Ovis2_5": "Ovis2_5",
    "Ovis2_6ForCausalLM": "Ovis2_5",
    "Ovis2_6_MoeForCausalLM": "Ovis2_5",
    "PaliGemmaForConditionalGeneration": "PaliGemmaForConditionalGeneration",
    "QianfanOCRForConditionalGeneration": "QianfanOCRForConditionalGeneration",
    "RForConditionalGeneration": "RForConditionalGeneration",
    "SkyworkR1VChatModel": "SkyworkR1VChatModel",
    "StepVLForConditionalGeneration": "StepVLForConditionalGeneration",
    "UltravoxModel": "UltravoxModel",
    "VoxtralForConditionalGeneration": "VoxtralForConditionalGeneration",
    "VoxtralRealtimeGeneration": "VoxtralRealtimeGeneration",
}


def _inner_architecture(outer: str, text: Fields) -> str:
    """The class that the wrapper builds: the text config's, or the one that its model type stands for."""
    names = text.strings("architectures", [])
    if names:
        return names[0]
    model_type = text.optional_string("model_type")
    if model_type is None or model_type not in ARCHITECTURE_OF:
        raise Undecided(f"which language model {outer} builds is not known from its config")
    return ARCHITECTURE_OF[model_type]


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    outer = model.require_architecture()
    if model.text is model.config:
        raise Undecided(f"the config of {outer} has no language model of its own")
    inner = _inner_architecture(outer, model.text)
    family = families().get(inner)
    if family is None or family.name == FAMILY.name:
        raise Undecided(f"{outer} with the language model {inner} is not known")
    config = Fields({**model.text.raw, "architectures": [inner]}, model.text.path)
    parts = family.parts(Model(source=model.source, config=config), replace(target, draft=False), release)
    if any(part.model_class in release.wired for part in parts):
        raise Undecided(f"how {outer} names the modules of {inner} is not known")
    root = "llm" if outer.startswith("Ovis") else "language_model"
    return tuple(
        replace(
            part,
            model_class=FAMILY.architectures[outer],
            layers=tuple(replace(layer, prefix=f"{root}.{layer.prefix}") for layer in part.layers),
        )
        for part in parts
    )


FAMILY = Family(name="wrappers", architectures=_CLASSES, parts=_parts)
