"""A family's config with its depth, widths, and number of shared experts drawn."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from conformance import seeds
from conformance.fuzzing.draw import Draw
from fse_core import releases
from fse_core.families import families

Config = dict[str, Any]

RARELY = 0.7
"""How often a family is drawn that never fuses, against one that can."""

OFTEN = ("deepseek_v4", "deepseek_v41", "glm5_next")
"""Families whose classes have conditions of their own."""

NEVER_BUILT = frozenset({
    "deepseek_v1", "dots3_note", "flint", "llava_llama", "minimax_m3_text", "pixtral", "qwen3_moe", "step3p7", "step5",
    "unlimited_ocr",
})  # fmt: skip
"""Configs without shared experts, that the release refuses, or whose constructors need more than this machine has."""

CAN_FUSE = frozenset({
    "alice_ai", "axk1", "deepseek_ocr", "deepseek_ocr2", "deepseek_v2", "deepseek_v3", "deepseek_v32",
    "deepseek_v3_bidirectional", "deepseek_v4", "deepseek_v41", "deepseek_vl2", "glm4_moe", "glm4_moe_lite",
    "glm4v_moe", "glm5_next", "glm5_next_text", "glm_moe_dsa", "interns2", "kimi_k25", "kimi_vl", "minimax_m3",
    "mistral3", "mistral_large_3", "qwen3_5", "qwen3_5_text", "qwen3_next", "qwen4_exp", "qwen4_exp_text",
})  # fmt: skip


def family(draw: Draw, release: str) -> str:
    """The name of a seed for which the release has a class."""
    weights = {name: 1.0 if name in CAN_FUSE else RARELY for name in buildable(release)}
    return draw.weighted(weights | {name: 2.5 for name in OFTEN if name in weights})


@functools.cache
def buildable(release: str) -> tuple[str, ...]:
    """The seeds whose class the release has, and this machine can build."""
    known = releases.load(release).architectures
    built = (name for name in seeds.names() if name not in NEVER_BUILT)
    architectures = {name: seeds.seed(name)["architectures"][0] for name in built}
    unregistered = {name for family in families().values() for name in family.unregistered}
    return tuple(name for name, architecture in architectures.items() if architecture in known | unregistered)


def model(draw: Draw, name: str) -> Config:
    """The seed's config, with some of its numbers drawn anew."""
    config = seeds.seed(name)
    text = language(config)
    for mutate in (_depth, _shared, _first_dense, _draft_layers, _widths):
        if draw.chance(0.4):
            mutate(draw, text)
    return config


def language(config: Config) -> Config:
    """The part of the config that describes the language model."""
    for key in ("text_config", "language_config"):
        if isinstance(config.get(key), dict):
            return config[key]  # type: ignore[no-any-return]  # JSON
    return config


def _depth(draw: Draw, text: Config) -> None:
    """Other depths, where no list states something for each layer."""
    depth = text.get("num_hidden_layers")
    lists = (value for value in _values(text) if isinstance(value, list))
    if isinstance(depth, int) and not any(depth <= len(value) <= depth + 2 for value in lists):
        text["num_hidden_layers"] = draw.one((2, 3, 4, 5, 6))


def _values(text: Mapping[str, Any]) -> list[Any]:
    nested = [inner for value in text.values() if isinstance(value, dict) for inner in value.values()]
    return [*text.values(), *nested]


def _shared(draw: Draw, text: Config) -> None:
    _replace(text, ("n_shared_experts", "num_shared_experts"), lambda old: draw.one((1, 2, 3, old)))


def _first_dense(draw: Draw, text: Config) -> None:
    _replace(text, ("first_k_dense_replace",), lambda _old: draw.one((0, 1, 2)))
    _replace(text, ("decoder_sparse_step", "moe_layer_freq"), lambda _old: draw.one((1, 2)))


def _draft_layers(draw: Draw, text: Config) -> None:
    keys = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules")
    _replace(text, keys, lambda old: draw.one((1, 2, 0)) if old == 1 else old)


def _widths(draw: Draw, text: Config) -> None:
    """The width of an expert: what the release does not look at when it decides."""
    keys = ("moe_intermediate_size", "shared_expert_intermediate_size")
    _replace(text, keys, lambda old: old if old % 1024 else draw.one((1024, 2048)))


def _replace(text: Config, keys: tuple[str, ...], change: Callable[[int], int]) -> None:
    for key in keys:
        if type(text.get(key)) is int:
            text[key] = change(text[key])
