"""Flint: an ungated shared expert in every layer that `mlp_only_layers` does not name.

Source: vllm/models/flint/model.py:155,493 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, separate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    dense = set(model.text.integers("mlp_only_layers", []))
    indices = [i for i in hidden_layers(model.text) if i not in dense]
    return (separate("FlintForCausalLM", moe_layers("model.layers.{i}.mlp", indices, "shared_expert")),)


FAMILY = Family(name="flint", architectures={"FlintForCausalLM": "FlintForCausalLM"}, parts=_parts)
