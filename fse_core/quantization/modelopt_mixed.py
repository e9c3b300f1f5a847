"""ModelOptMixedPrecisionConfig: NVIDIA ModelOpt checkpoints whose layers differ in their algorithm."""

from dataclasses import dataclass
from typing import ClassVar, Self

from fse_core.quantization.base import refuse
from fse_core.quantization.modelopt import ModelOpt
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release

_BLOCK_FP8 = ("FP8_PB_WO", "FP8_BLOCK_SCALES")


@dataclass(frozen=True, kw_only=True)
class ModelOptMixedPrecision(ModelOpt):
    """Source: model_executor/layers/quantization/modelopt.py:1574 at 0.33.0."""

    class_name: ClassVar[str] = "ModelOptMixedPrecisionConfig"

    @classmethod
    def parse(cls, fields: Fields, model: Model, release: Release) -> Self:
        """An export that keeps its map of layers in hf_quant_config.json alone is read from there."""
        if "quantized_layers" in fields:
            return super().parse(fields, model, release)
        block = model.hf_quant_config
        if block is None:
            raise refuse("Cannot find the config file for modelopt_mixed")
        if block.object("producer", {}).get("name") != "modelopt":
            raise refuse("Unsupported quantization config found for modelopt_mixed in hf_quant_config.json.")
        return super().parse(block, model, release)

    @classmethod
    def validate(cls, algorithm: str, block: Fields, *, nested: bool) -> None:
        if not block.get("quantized_layers"):
            raise refuse(
                "MIXED_PRECISION quant_algo requires a non-empty 'quantized_layers' mapping in the quantization config."
            )
        layers = block.object("quantized_layers")
        recipes = [layers.object(name) for name in layers]
        sizes = {
            recipe.integer("group_size", 128)
            for recipe in recipes
            if recipe.string("quant_algo", "").upper() in _BLOCK_FP8
        }
        if len(sizes) > 1:
            raise refuse(
                "MIXED_PRECISION currently requires all block-FP8 MoE layers to use one group_size, "
                f"got {sorted(sizes)}."
            )


CLASS = ModelOptMixedPrecision
