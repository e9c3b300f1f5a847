"""ERNIE 4.5 MoE. Its draft layers are dense.

Source: vllm/model_executor/models/ernie45_moe.py:148,336 and ernie_mtp.py:44 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, separate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    text = model.text
    start = text.integer("moe_layer_start_index", 1)
    end = text.integer("moe_layer_end_index", -1, least=-1)
    if end == -1:
        end = text.integer("num_hidden_layers") - 1
    interval = text.integer("moe_layer_interval", 1, least=1)
    routed = text.boolean("use_moe", text.integer("moe_num_experts", 64) > 0)
    shared = text.integer("moe_num_shared_experts", 2) > 0
    indices = [i for i in hidden_layers(text) if routed and shared and start <= i <= end and (i + 1) % interval == 0]
    return (separate("Ernie4_5_MoeForCausalLM", moe_layers("model.layers.{i}.mlp", indices)),)


FAMILY = Family(name="ernie45_moe", architectures={"Ernie4_5_MoeForCausalLM": "Ernie4_5_MoeForCausalLM"}, parts=_parts)
