"""How MistralLarge3ForCausalLM renames what is written in Mistral's own names.

Source: model_executor/models/mistral_large_3.py:12 at 0.33.0. Only names of expert tensors are here: no other rule of
that class yields a name that the gate compares with. A name without the tensor's own leaf is left as it is.
"""

import re

from fse_core.names import Renames

_PROJECTIONS = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}


def _rules() -> tuple[tuple[re.Pattern[str], str], ...]:
    shared = [
        (
            re.compile(rf"\Alayers\.(\d+)\.shared_experts\.{old}\.(\w+)\Z"),
            rf"model.layers.\1.mlp.shared_experts.{new}.\2",
        )
        for old, new in _PROJECTIONS.items()
    ]
    routed = [
        (
            re.compile(rf"\Alayers\.(\d+)\.experts\.(\d+)\.{old}\.(\w+)\Z"),
            rf"model.layers.\1.mlp.experts.\2.{new}.\3",
        )
        for old, new in _PROJECTIONS.items()
    ]
    return (*shared, *routed)


MISTRAL_NAMES = Renames(regex=_rules(), suffix={".qscale_act": ".input_scale", ".qscale_weight": ".weight_scale"})
