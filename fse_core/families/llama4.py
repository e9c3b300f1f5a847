"""Llama 4, alone and multimodal. The class looks at `interleave_moe_layer_step` and not at `moe_layers`.

Source: vllm/model_executor/models/llama4.py:107,340 and mllama4.py:781 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, separate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASSES = {
    "Llama4ForCausalLM": "Llama4ForCausalLM",
    "Llama4ForConditionalGeneration": "Llama4ForConditionalGeneration",
}


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    architecture = model.require_architecture()
    root = "language_model." if architecture == "Llama4ForConditionalGeneration" else ""
    step = model.text.integer("interleave_moe_layer_step", 1)
    indices = [i for i in hidden_layers(model.text) if step > 0 and (i + 1) % step == 0]
    layers = moe_layers(f"{root}model.layers.{{i}}.feed_forward", indices, "shared_expert")
    return (separate(_CLASSES[architecture], layers),)


FAMILY = Family(name="llama4", architectures=_CLASSES, parts=_parts)
