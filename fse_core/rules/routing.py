"""How a model sends tokens to its experts, as far as a release's faults hang on it.

Source: model_executor/layers/fused_moe/router/router_factory.py:150-260 at 0.33.0.
"""

from fse_core.read.model import Model


def _degenerate(model: Model) -> bool:
    """One group of one, and no factor: the release takes a router that knows of no groups instead."""
    text = model.text
    grouped = any(text.integer(key, 1) > 1 for key in ("n_group", "topk_group"))
    factor: object = text.get("routed_scaling_factor")
    return not grouped and factor in (None, 1, 1.0)


def _biased(model: Model) -> bool:
    return bool(model.text.get("topk_method") == "noaux_tc")


def _scoring(model: Model) -> str:
    return model.text.string("scoring_func", "softmax")


def one_group_softmax(model: Model) -> bool:
    """As DeepSeek-V2-Lite routes: softmax, no groups, no factor, no bias."""
    stated = "topk_method" in model.text
    return stated and _degenerate(model) and not _biased(model) and _scoring(model) == "softmax"


def one_group_sigmoid(model: Model) -> bool:
    """The same with sigmoid."""
    stated = "topk_method" in model.text
    return stated and _degenerate(model) and not _biased(model) and _scoring(model) == "sigmoid"


def experts_not_in_groups(model: Model) -> bool:
    """Whether the routed experts cannot be divided into the groups."""
    text = model.text
    groups, experts = text.integer("n_group", 1), text.integer("n_routed_experts", 0)
    return groups > 1 and experts > 0 and (experts % groups > 0 or experts <= groups)
