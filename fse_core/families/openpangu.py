"""OpenPangu, and Ultra MoE's draft layers. A count of 0 shared experts still builds the module.

Source: vllm/model_executor/models/openpangu.py:180,883, openpangu_mtp.py:72 and config/speculative.py:777 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, next_layers, separate, with_draft
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASSES = {
    "PanguEmbeddedForCausalLM": "PanguEmbeddedForCausalLM",
    "PanguProMoEV2ForCausalLM": "PanguProMoEV2ForCausalLM",
    "PanguUltraMoEForCausalLM": "PanguUltraMoEForCausalLM",
}
_PREFIX = "model.layers.{i}.mlp"


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    text = model.text
    routed = text.optional_integer("n_routed_experts") is not None
    shared = text.optional_integer("n_shared_experts") is not None
    dense = text.integer("first_k_dense_replace") if routed else 0

    def built(indices: range) -> list[int]:
        return [i for i in indices if routed and shared and i >= dense]

    return with_draft(
        separate(_CLASSES[model.require_architecture()], moe_layers(_PREFIX, built(hidden_layers(text)))),
        separate("OpenPanguMTP", moe_layers(_PREFIX, built(next_layers(text))), "draft"),
        target.draft and model.model_type == "pangu_ultra_moe",
    )


FAMILY = Family(name="openpangu", architectures=_CLASSES, parts=_parts)
