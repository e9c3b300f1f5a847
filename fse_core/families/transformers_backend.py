"""MoE models without a class of vLLM's own: Transformers' module tree, whose shared experts stay what they are there.

Source: vllm/model_executor/models/transformers/moe.py:350 and model_executor/models/registry.py:1266 at 0.33.0.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, layer_types, moe_layers, separate
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_MODEL_CLASS = "TransformersMoEForCausalLM"


@dataclass(frozen=True, kw_only=True)
class _Tree:
    """Where the MoE layers of one of Transformers' models are: from which layer on, and the shared module's name.

    `dense` is the default of `first_k_dense_replace`, None for a model in which every layer is MoE.
    `typed` models have a list of layer types that wins over it.
    """

    dense: int | None = None
    typed: bool = False
    shared_name: str = "shared_experts"

    def indices(self, text: Fields) -> Iterable[int]:
        if self.dense is None:
            return hidden_layers(text)
        first = text.integer("first_k_dense_replace", self.dense)
        if not self.typed:
            return hidden_layers(text)[first:]
        every = text.integer("moe_layer_freq", 1, least=1)
        listed = text.get("mlp_layer_types") is not None
        types = layer_types(text, first)
        return [i for i in hidden_layers(text) if types[i : i + 1] == ["sparse"] and (listed or i % every == 0)]


_TREES: Mapping[str, _Tree] = {
    "AXK2ForCausalLM": _Tree(dense=1, typed=True),
    "Dots1ForCausalLM": _Tree(dense=0),
    "HunYuanMoEV1ForCausalLM": _Tree(shared_name="shared_mlp"),
    "Kolibri1ForCausalLM": _Tree(),
    "Mistral4ForCausalLM": _Tree(dense=0),
    "SolarOpenForCausalLM": _Tree(),
}


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    tree = _TREES[model.require_architecture()]
    layers = moe_layers("model.layers.{i}.mlp", tree.indices(model.text), tree.shared_name)
    # The backend goes over Transformers' own model twice: it puts in the experts, and then the linear modules.
    return (replace(separate(_MODEL_CLASS, layers), experts_first=True),)


FAMILY = Family(
    name="transformers_backend",
    architectures=dict.fromkeys(_TREES, _MODEL_CLASS),
    parts=_parts,
    unregistered=frozenset({"AXK2ForCausalLM", "Mistral4ForCausalLM", "SolarOpenForCausalLM"}),
)
