"""HY-V4 and its draft layers, which are sparse where `mlp_layer_types` does not reach them.

Source: vllm/models/hy_v4/amd/model.py:134, nvidia/moe.py:131 and nvidia/mtp.py:347,415 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, layer_types, moe_layers, next_layers, separate, with_draft
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_PREFIX = "model.layers.{i}.mlp"


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    text = model.text
    types = layer_types(text, 1)
    shared = text.integer("n_shared_experts", 1) > 0

    def built(indices: range) -> list[int]:
        return [i for i in indices if shared and types[i : i + 1] != ["dense"]]

    draft = next_layers(text, text.integer("num_nextn_predict_layers", 1))
    return with_draft(
        separate("HYV4ForCausalLM", moe_layers(_PREFIX, built(hidden_layers(text)))),
        separate("HYV4MTP", moe_layers(_PREFIX, built(draft)), "draft"),
        target.draft,
    )


FAMILY = Family(name="hy_v4", architectures={"HYV4ForCausalLM": "HYV4ForCausalLM"}, parts=_parts)
