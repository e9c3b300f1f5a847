"""EXAONE MoE. Its draft layers are dense.

Source: vllm/model_executor/models/exaone_moe.py:115,336 and exaone_moe_mtp.py:73 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import moe_layers, separate, sparse_layers
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    shared = model.text.integer("num_shared_experts", 1) > 0
    indices = sparse_layers(model.text, model.text.integer("first_k_dense_replace", 1)) if shared else []
    return (separate("ExaoneMoeForCausalLM", moe_layers("model.layers.{i}.mlp", indices)),)


FAMILY = Family(
    name="exaone_moe",
    architectures={"ExaoneMoeForCausalLM": "ExaoneMoeForCausalLM", "ExaoneMoEForCausalLM": "ExaoneMoeForCausalLM"},
    parts=_parts,
)
