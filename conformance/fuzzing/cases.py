"""Puts a case together: a family, its numbers, a block, and a target."""

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.fuzzing import blocks, models, schemes, targets
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.names import Names, Site
from conformance.home import RELEASE
from fse_core.check import check
from fse_core.report import Layer

LIKELY_V4 = 0.6


def case(seed: int, release: str = RELEASE) -> Case:
    """The case that belongs to a number, among the models that the release has classes for."""
    draw = Draw(seed)
    family = models.family(draw, release)
    config = models.model(draw, family)
    options = {"vllm": release, **targets.target(draw, family, release)}
    names = Names(draw, sites(config))
    block, extra = deepseek_v4(draw, names, config) if _is_v4(draw, family) else blocks.files(draw, names)
    if block is not None:
        _place(draw, config, block)
    is_quark = block is not None and block.get("quant_method") == "quark"
    if draw.chance(0.4 if is_quark else 0.12):
        if block is not None and is_quark and draw.chance(0.6):
            block["global_quant_config"] = schemes.common(draw)
        options["overlay"] = blocks.overlay(draw, names)
    raw = {"name": f"{family} {seed}", "config": config, "hf_quant_config": extra, "target": options}
    return Case.from_dict(raw)


def sites(config: dict[str, Any]) -> list[Site]:
    """The layers that a block may be about: ours, since what matters is only that the names are plausible."""
    report = check(Case(name="", config=config).model(), Case(name="", config=config).target)
    return list(_sites(report.layers)) or [
        Site(experts=f"model.layers.{index}.mlp.experts", shared=f"model.layers.{index}.mlp.shared_experts")
        for index in range(4)
    ]


def _sites(layers: tuple[Layer, ...]) -> Iterator[Site]:
    return (Site(experts=layer.experts, shared=layer.shared) for layer in layers)


def _is_v4(draw: Draw, family: str) -> bool:
    return family.startswith("deepseek_v4") and draw.chance(LIKELY_V4)


def deepseek_v4(draw: Draw, names: Names, config: dict[str, Any]) -> blocks.Files:
    """DeepSeek-V4's own block, with experts in FP4 or FP8."""
    block, extra = blocks.fp8(draw, names)
    assert block is not None
    dtype = draw.one(("fp4", "fp4", "fp8", "fp8", None))
    (block if "text_config" in config else config)["expert_dtype"] = dtype
    return block | {"scale_fmt": "ue8m0"}, extra


def _place(draw: Draw, config: dict[str, Any], block: blocks.Block) -> None:
    """Where the block stands: at the top, now and then in the text config or under the older key."""
    text = models.language(config)
    if text is not config and draw.chance(0.15):
        text["quantization_config"] = block
    elif draw.chance(0.03):
        config["compression_config"] = block
    else:
        config["quantization_config"] = block
