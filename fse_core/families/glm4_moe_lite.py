"""GLM-4.7-Flash.

Source: model_executor/models/glm4_moe_lite.py:108,170 and glm4_moe_lite_mtp.py:160,220 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.deepseek_layers import sparse_layers
from fse_core.families.moe_layers import Defaults, after, draft_count, layer_count
from fse_core.names import GATE_UP
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.report import Failure
from fse_core.target import Target

_DEFAULTS: Defaults = {"num_hidden_layers": 47, "n_routed_experts": 64, "n_shared_experts": 1}
_FIRST = "first_k_dense_replace"


def _no_first_layer(model: Model) -> Failure | None:
    """The config class fills in `mlp_layer_types` alone, while the model class reads the older key."""
    if _FIRST not in model.config:
        return Failure(type="AttributeError", message=f"'Glm4MoeLiteConfig' object has no attribute '{_FIRST}'")
    if model.config.get(_FIRST) is None:
        return Failure(type="TypeError", message="'>=' not supported between instances of 'int' and 'NoneType'")
    return None


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    defaults = {**_DEFAULTS, _FIRST: 1}
    count = layer_count(model.config, defaults)
    part = Part(
        model_class="Glm4MoeLiteForCausalLM",
        layers=sparse_layers(model.config, defaults, range(count)),
        packed=GATE_UP,
        startup=_no_first_layer(model),
    )
    next_layers = after(count, draft_count(model.config, "num_nextn_predict_layers", None)) if target.draft else ()
    drafted = sparse_layers(model.config, defaults, next_layers)
    draft = Part(model_class="Glm4MoeLiteMTP", layers=drafted, part="draft", packed=None)
    return (part, draft) if drafted else (part,)


FAMILY = Family(name="glm4_moe_lite", architectures={"Glm4MoeLiteForCausalLM": "Glm4MoeLiteForCausalLM"}, parts=_parts)
