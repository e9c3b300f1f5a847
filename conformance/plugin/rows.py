"""Checkpoints and starts that go wrong in stock releases: what each is, and how it is put to a release.

Ids are kept in the recorded answers and in the documentation's table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.checkpoints.blocks import BLOCKS
from conformance.checkpoints.families import LAYERS
from conformance.checkpoints.schemes import OVERLAY, Scheme
from conformance.checkpoints.stores import STORES, V4_FP4, V4_FP8
from conformance.plugin.ask import Start
from conformance.plugin.checkpoints import Variant

RELEASES = ("0.24.0", "0.25.0", "0.26.0", "0.27.0", "0.28.0", "0.29.0", "0.30.0", "0.31.0", "0.32.0", "0.33.0")
WIDTH = 256
PLAIN, MXFP4, FP8_BLOCK = (STORES[name] for name in ("plain", "mxfp4", "blocks"))
QUARK, FP8 = (dict(BLOCKS[name]) for name in ("quark_mxfp4", "fp8_blocks"))
ONLINE = {"FSE_ONLINE_SHARED_EXPERTS": "mxfp4"}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One situation. `since` and `last` bound the releases that can be asked; `environment` is the plugin's own.

    alone_since: from when on a release can be asked without the plugin; before, a kernel would have to run.
    """

    id: str
    title: str
    checkpoint: Variant
    since: str = RELEASES[0]
    last: str = RELEASES[-1]
    alone_since: str = RELEASES[0]
    options: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def releases(self) -> tuple[str, ...]:
        """The releases that are asked."""
        return RELEASES[RELEASES.index(self.since) : RELEASES.index(self.last) + 1]

    def starts(self, release: str) -> Iterator[Start]:
        """Without the plugin, where that can be asked, and with it."""
        bare = Start(checkpoint=self.checkpoint, release=release, plugin=False, options=self.options)
        if RELEASES.index(release) >= RELEASES.index(self.alone_since):
            yield bare
        yield replace(bare, plugin=True, environment=self.environment)


def projections(shared: str = "shared_experts") -> list[str]:
    """The names of all shared experts' projections."""
    parents = [f"model.layers.{index}.mlp.{shared}" for index in range(LAYERS)]
    return [f"{parent}.{name}_proj" for parent in parents for name in ("gate", "up", "down")]


def _parents() -> list[str]:
    return [f"model.layers.{index}.mlp.shared_experts" for index in range(LAYERS)]


def variant(scheme: str, block: Mapping[str, Any], routed_as: Any, shared_as: Any, **more: Any) -> Variant:
    """A checkpoint of the DeepSeek family unless `more` says otherwise."""
    own = Scheme(format="", block=block, routed=routed_as, shared=shared_as)
    return Variant(**{"family": "deepseek", "scheme": scheme, "width": WIDTH, "own": own, **more})


def quark(scheme: str, entries: list[str], shared_as: Any = PLAIN, routed_as: Any = MXFP4, **more: Any) -> Variant:
    """Quark MXFP4, with these entries in its exclude list."""
    block = QUARK | {"exclude": [*QUARK["exclude"], *entries]}
    return variant(scheme, block, routed_as, shared_as, **more)


def fp8(scheme: str, listed: list[str]) -> Variant:
    """FP8 in blocks, shared experts in 16 bits, and these names listed."""
    block = FP8 | ({"modules_to_not_convert": listed} if listed else {})
    return variant(scheme, block, FP8_BLOCK, PLAIN)


def _quark_fp8(scheme: str, qscheme: str, store: Any, **more: Any) -> Variant:
    weight = {"dtype": "fp8_e4m3", "qscheme": qscheme, "is_dynamic": False, "ch_axis": 0}
    inputs = {"dtype": "fp8_e4m3", "qscheme": "per_tensor", "is_dynamic": True}
    if qscheme == "per_channel":
        inputs["qscheme"] = "per_channel"
    config = {"weight": weight, "input_tensors": inputs, "output_tensors": None, "bias": None}
    return variant(scheme, QUARK | {"global_quant_config": config}, store, store, **more)


_EXCLUDED = quark("quark-pattern", ["re:.*shared_expert.*"])
_GLOB = quark("quark-glob", ["*shared_experts*"])
_ROUTED_OUT = [f"model.layers.{index}.mlp.experts" for index in range(LAYERS)]
_NARROW = variant("narrow", {}, PLAIN, PLAIN, family="qwen3_next", shared_width=WIDTH // 2)

V4 = {
    "quant_method": "fp8",
    "activation_scheme": "dynamic",
    "fmt": "e4m3",
    "scale_fmt": "ue8m0",
    "weight_block_size": [128, 128],
}

ROWS: tuple[Row, ...] = (
    Row(
        id="mxfp4-plain",
        title="routed MXFP4, shared expert in 16 bits and left out by a pattern that every release takes",
        checkpoint=_EXCLUDED,
    ),
    Row(
        id="mxfp4-plain-online",
        title="the same, quantized while loading with `FSE_ONLINE_SHARED_EXPERTS=mxfp4`",
        checkpoint=_EXCLUDED,
        environment=ONLINE,
    ),
    Row(
        id="mxfp4-plain-targets",
        title="the same, quantized while loading with `--quantization-config '{\"targets\": ...}'`",
        checkpoint=_EXCLUDED,
        since="0.30.0",
        alone_since="0.32.0",
        options={"overlay": dict(OVERLAY)},
    ),
    Row(id="mxfp4-glob", title="the same, but left out by the glob `*shared_experts*`", checkpoint=_GLOB),
    Row(
        id="mxfp4-glob-online",
        title="the glob, quantized while loading with `FSE_ONLINE_SHARED_EXPERTS=mxfp4`",
        checkpoint=_GLOB,
        environment=ONLINE,
    ),
    Row(
        id="mxfp4-parent",
        title="the same, but left out by the name of the module that holds the projections",
        checkpoint=quark("quark-parent", _parents()),
    ),
    Row(
        id="fp8-plain",
        title="routed FP8 in blocks, shared expert in 16 bits, its three projections listed",
        checkpoint=fp8("fp8-listed", projections()),
    ),
    Row(
        id="fp8-parent",
        title="the same, but listed by the name of the module that holds them",
        checkpoint=fp8("fp8-parent", _parents()),
    ),
    Row(id="fp8-unlisted", title="the same, but not listed at all", checkpoint=fp8("fp8-unlisted", [])),
    Row(
        id="fp8-tensor",
        title="FP8 with one scale a tensor, scales without dimensions",
        checkpoint=variant(
            "fp8-tensor",
            {"quant_method": "fp8", "activation_scheme": "dynamic"},
            STORES["tensor"],
            STORES["tensor"],
        ),
    ),
    Row(
        id="quark-fp8-tensor",
        title="Quark FP8 with one scale a tensor, scales without dimensions",
        checkpoint=_quark_fp8("quark-fp8-tensor", "per_tensor", STORES["tensor"]),
    ),
    Row(
        id="quark-fp8-channel",
        title="Quark FP8 with one scale a row, two shared experts",
        checkpoint=_quark_fp8("quark-fp8-channel", "per_channel", STORES["rows"], shared=2),
    ),
    Row(
        id="routed-excluded",
        title="routed experts left out of quantization, shared expert MXFP4",
        checkpoint=quark("routed-excluded", _ROUTED_OUT, MXFP4, PLAIN),
        since="0.26.0",  # before, excluded routed experts cannot be built, whatever becomes of shared ones
    ),
    Row(id="narrow", title="Qwen3-Next, shared expert half as wide as a slot", checkpoint=_NARROW),
    Row(
        id="wide",
        title="Qwen3-Next, shared expert twice as wide as a slot",
        checkpoint=variant("wide", {}, PLAIN, PLAIN, family="qwen3_next", shared_width=2 * WIDTH),
    ),
    Row(
        id="glm-lite",
        title="GLM-4.7-Flash, unquantized",
        checkpoint=variant("plain", {}, PLAIN, PLAIN, family="glm_lite"),
    ),
    Row(
        id="qwen3.5",
        title="Qwen3.5 with its vision tower, unquantized",
        checkpoint=variant("plain", {}, PLAIN, PLAIN, family="qwen_vl"),
    ),
    Row(
        id="qwen-next-quark",
        title="Qwen3-Next, Quark MXFP4, the shared expert's projections left out by name",
        checkpoint=quark("quark-names", projections("shared_expert"), family="qwen3_next"),
    ),
    Row(
        id="deepseek-v3.2",
        title="DeepSeek-V3.2, unquantized",
        checkpoint=variant("plain", {}, PLAIN, PLAIN, family="deepseek_v32"),
    ),
    Row(
        id="deepseek-v4",
        title="DeepSeek-V4 as published, FP8 shared expert beside FP4 routed ones",
        checkpoint=variant("published", V4, V4_FP4, V4_FP8, family="deepseek_v4"),
        since="0.30.0",
    ),
    Row(
        id="alike-mxfp4",
        title="sound: Quark MXFP4, shared expert MXFP4 too",
        checkpoint=variant("alike-mxfp4", QUARK, MXFP4, MXFP4),
    ),
    Row(
        id="alike-fp8",
        title="sound: FP8 in blocks, shared expert too",
        checkpoint=variant("alike-fp8", FP8, FP8_BLOCK, FP8_BLOCK),
    ),
    Row(
        id="alike-plain",
        title="sound: nothing is quantized",
        checkpoint=variant("plain", {}, PLAIN, PLAIN),
    ),
)
