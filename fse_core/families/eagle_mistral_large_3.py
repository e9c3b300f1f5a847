"""The draft that vLLM builds from a Mistral-Large-3 checkpoint when it is asked for MTP.

Source: config/speculative.py:1070 and model_executor/models/mistral_large_3_eagle.py:51,129 at 0.33.0. The draft has as
many layers as the target and counts on from it; it reads its own copy of the quantization block, which no class
renames and which knows no packed modules.
"""

from fse_core.families.base import Part
from fse_core.families.deepseek_layers import DEFAULTS, sparse_layers
from fse_core.families.moe_layers import after, layer_count
from fse_core.read.model import Model


def eagle_part(model: Model) -> Part | None:
    """The draft, where the model type leads to one; it never checks that its layers agree."""
    if model.model_type != "deepseek_v3":
        return None
    defaults = DEFAULTS["deepseek_v3"]
    count = layer_count(model.config, defaults)
    first = model.config.integer("first_k_dense_replace", defaults["first_k_dense_replace"])
    layers = sparse_layers(model.config, defaults, [i for i in after(count, count) if i >= count + first])
    return Part(
        model_class="EagleMistralLarge3ForCausalLM",
        layers=layers,
        part="draft",
        one_answer=False,
        quantization="own",
    )
