"""A.X K1.

Source: model_executor/models/AXK1.py:97,113,661,718 at 0.33.0. No draft is ever made of it.
"""

from fse_core.families.base import Family, Part
from fse_core.families.moe_layers import Defaults, layer_count, moe_layers, number
from fse_core.names import GATE_UP
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.report import Failure
from fse_core.target import Target

_DEFAULTS: Defaults = {"num_hidden_layers": 61, "n_routed_experts": 192, "n_shared_experts": 1}


def _sparse(config: Fields, release: Release) -> list[int]:
    """By `mlp_layer_types`, which the config class makes of the older keys where it is absent."""
    indices = range(layer_count(config, _DEFAULTS))
    if config.get("mlp_layer_types") is not None and not release.has("axk1_counts_dense_layers"):
        types = config.strings("mlp_layer_types")
        return [i for i in indices if types[i : i + 1] == ["sparse"]]
    first = config.integer("first_k_dense_replace", 1)
    step = config.integer("moe_layer_freq", 1, least=1)
    return [i for i in indices if i >= first and i % step == 0]


def _types_short(config: Fields, release: Release) -> Failure | None:
    """The class looks up each layer in the list, which may not be too short."""
    types = config.strings("mlp_layer_types", [])
    short = not release.has("axk1_counts_dense_layers") and 0 < len(types) < layer_count(config, _DEFAULTS)
    return Failure(type="IndexError", message="list index out of range") if short else None


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    slots = number(model.config, "n_shared_experts", _DEFAULTS)
    layers = moe_layers("model.layers.{i}.mlp", _sparse(model.config, release), slots) if slots else ()
    return (
        Part(model_class="AXK1ForCausalLM", layers=layers, packed=GATE_UP, startup=_types_short(model.config, release)),
    )


FAMILY = Family(name="axk1", architectures={"AXK1ForCausalLM": "AXK1ForCausalLM"}, parts=_parts)
