"""The layer rule, the config defaults and the draft that DeepSeek V2/V3 shares with the classes built on it."""

from collections.abc import Iterable, Mapping

from fse_core.families.base import MoeLayer, Part
from fse_core.families.moe_layers import Defaults, after, draft_count, layer_count, moe_layers, number
from fse_core.names import Packed, Rename
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.report import Failure

_V2: Defaults = {
    "num_hidden_layers": 32,
    "n_routed_experts": 64,
    "n_shared_experts": 2,
    "first_k_dense_replace": 0,
}
_V3: Defaults = {
    "num_hidden_layers": 61,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "first_k_dense_replace": 3,
    "num_nextn_predict_layers": 1,
}
_GLM_DSA: Defaults = {
    "num_hidden_layers": 78,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "first_k_dense_replace": 3,
    "num_nextn_predict_layers": None,
}

DEFAULTS: Mapping[str | None, Defaults] = {
    "deepseek_v2": _V2,
    "deepseek_v3": _V3,
    "deepseek_v32": _V3,
    "kimi_k2": _V3,
    "glm_moe_dsa": _GLM_DSA,
}
"""By model_type, which picks the config class (transformers_utils/config.py:122 at 0.33.0)."""

_DRAFTS = {"deepseek_v3": "DeepSeekMTP", "deepseek_v32": "DeepseekV32MTP", "glm_moe_dsa": "DeepseekV32MTP"}


def sparse_layers(
    config: Fields, defaults: Defaults, indices: Iterable[int], prefix: str = "model.layers.{i}.mlp"
) -> tuple[MoeLayer, ...]:
    """Those of `indices` that have routed and shared experts.

    Source: model_executor/models/deepseek_v2.py:1293 and :346 at 0.33.0. A count of zero shared experts passes the
    class's own guard.
    """
    slots = number(config, "n_shared_experts", defaults)
    if slots is None or number(config, "n_routed_experts", defaults) is None:
        return ()
    first = number(config, "first_k_dense_replace", defaults) or 0
    step = config.integer("moe_layer_freq", 1, least=1)
    return moe_layers(prefix, [i for i in indices if i >= first and i % step == 0], slots)


def has_experts(config: Fields, defaults: Defaults) -> bool:
    """Whether any layer is built with routed experts at all."""
    return number(config, "n_routed_experts", defaults) is not None


def no_first_layer(config: Fields, defaults: Defaults) -> Failure | None:
    """The class computes with these keys for each layer, which null does not stand."""
    if "moe_layer_freq" in config and config.get("moe_layer_freq") is None:
        words = "unsupported operand type(s) for %: 'int' and 'NoneType'"
        return Failure(type="TypeError", message=words)
    if number(config, "first_k_dense_replace", defaults) is not None:
        return None
    return Failure(type="TypeError", message="'>=' not supported between instances of 'int' and 'NoneType'")


def target_part(
    model_class: str,
    config: Fields,
    defaults: Defaults,
    *,
    root: str = "",
    renames: tuple[Rename, ...] = (),
    packed: Packed,
) -> Part:
    """The target of any class whose decoder layers follow the DeepSeek rule."""
    indices = range(layer_count(config, defaults))
    return Part(
        model_class=model_class,
        layers=sparse_layers(config, defaults, indices, f"{root}model.layers.{{i}}.mlp"),
        renames=renames,
        packed=packed,
        routed=has_experts(config, defaults),
        startup=no_first_layer(config, defaults),
    )


def draft_part(model: Model) -> Part | None:
    """The MTP draft that vLLM builds from the same checkpoint; the model type decides, not the architecture.

    Source: config/speculative.py:749 at 0.33.0; model_executor/models/deepseek_mtp.py:160 and
    models/deepseek_v32/amd/mtp.py:114.
    """
    model_class = _DRAFTS.get(model.model_type or "")
    if model_class is None:
        return None
    defaults = DEFAULTS[model.model_type]
    key = "num_nextn_predict_layers"
    # Only DeepSeek's own config class knows the newer name.
    alias = "num_mtp_layers" if defaults is _V3 else None
    count = draft_count(model.config, key, defaults[key], alias=alias)
    layers = sparse_layers(model.config, defaults, after(layer_count(model.config, defaults), count))
    return Part(model_class=model_class, layers=layers, part="draft", packed=None) if layers else None
