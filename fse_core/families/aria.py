"""Aria: every layer of its language model is MoE with shared experts.

Source: vllm/model_executor/models/aria.py:189,428 at 0.33.0.
"""

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, separate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    layers = moe_layers("language_model.model.layers.{i}.mlp", hidden_layers(model.text))
    return (separate("AriaForConditionalGeneration", layers),)


FAMILY = Family(
    name="aria", architectures={"AriaForConditionalGeneration": "AriaForConditionalGeneration"}, parts=_parts
)
