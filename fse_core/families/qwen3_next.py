"""Qwen3-Next.

Source: model_executor/models/qwen3_next.py:131,489 and qwen3_next_mtp.py:63 at 0.33.0.
"""

from collections.abc import Iterable

from fse_core.families.base import Family, MoeLayer, Part
from fse_core.families.moe_layers import Defaults, draft_count, layer_count, number
from fse_core.families.qwen_layers import gated_layers
from fse_core.names import GATE_UP
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.target import Target

_DEFAULTS: Defaults = {"num_hidden_layers": 48, "num_experts": 512, "shared_expert_intermediate_size": 512}


def _layers(config: Fields, indices: Iterable[int], prefix: str) -> tuple[MoeLayer, ...]:
    """A draft's layers count from 0 and obey the same rule as the target's."""
    if not number(config, "num_experts", _DEFAULTS):
        return ()
    dense = set(config.integers("mlp_only_layers", []))
    step = config.integer("decoder_sparse_step", 1, least=1)
    sparse = [i for i in indices if i not in dense and (i + 1) % step == 0]
    return gated_layers(config, _DEFAULTS, sparse, prefix)


def _parts(model: Model, target: Target) -> tuple[Part, ...]:
    config = model.config
    layers = _layers(config, range(layer_count(config, _DEFAULTS)), "model.layers.{i}.mlp")
    part = Part(model_class="Qwen3NextForCausalLM", layers=layers, packed=GATE_UP)
    if not target.draft or model.model_type != "qwen3_next":
        return (part,)
    next_layers = _layers(config, range(draft_count(config, "num_nextn_predict_layers", 1)), "mtp.layers.{i}.mlp")
    draft = Part(model_class="Qwen3NextMTP", layers=next_layers, part="draft", packed=GATE_UP)
    return (part, draft) if next_layers else (part,)


FAMILY = Family(name="qwen3_next", architectures={"Qwen3NextForCausalLM": "Qwen3NextForCausalLM"}, parts=_parts)
