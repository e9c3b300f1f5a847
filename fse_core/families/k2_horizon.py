"""K2 Horizon.

Source: vllm/model_executor/models/k2_horizon.py:504,999 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, separate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    text = model.text
    dense = set(text.integers("mlp_only_layers", []))
    step = text.integer("decoder_sparse_step", least=1)
    built = text.integer("num_experts") > 0 and text.integer("num_shared_experts") > 0
    indices = [i for i in hidden_layers(text) if built and i not in dense and (i + 1) % step == 0]
    return (separate("K2HorizonForCausalLM", moe_layers("model.layers.{i}.mlp", indices)),)


FAMILY = Family(name="k2_horizon", architectures={"K2HorizonForCausalLM": "K2HorizonForCausalLM"}, parts=_parts)
