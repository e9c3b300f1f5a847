"""Checkpoints put together by chance: most of what can be said of one in `kinds`, in any combination."""

from collections.abc import Iterator, Mapping
from random import Random

from conformance.checkpoints.blocks import BLOCKS
from conformance.checkpoints.families import FAMILIES, LONG
from conformance.checkpoints.kinds import Kind, Recipe
from conformance.checkpoints.stores import STORES

_STORED_AS: Mapping[str, str] = {
    "": "plain",
    "fp8_blocks": "blocks",
    "fp8_tensor": "tensor_of_one",
    "fp8_static": "static_of_one",
    "quark_mxfp4": "mxfp4",
    "quark_tensor": "tensor_of_one",
    "quark_static": "static_of_one",
    "quark_rows": "rows",
    "modelopt_mxfp8": "mxfp8",
    "modelopt_tensor": "static_of_one",
    "modelopt_nvfp4": "nvfp4",
    "compressed_rows": "row_column",
}
"""How an exporter stores what it describes by a block."""

_TWO_DIMENSIONAL = frozenset({"plain", "blocks", "mxfp4", "mxfp8"})
"""Stores whose scales are as weights are, so that those of many experts can be one tensor."""

_LEFT_OUT: tuple[tuple[str, ...], ...] = (
    (),
    ("{shared}",),
    ("{shared}.gate_proj", "{shared}.up_proj", "{shared}.down_proj"),
    ("{shared}.gate_proj", "{shared}.up_proj"),
    ("re:.*shared_expert.*",),
    ("*shared_expert*",),
    ("shared_experts",),
    ("{experts}",),
    ("{moe}.gate",),
    ("{experts}", "{shared}.gate_proj", "{shared}.up_proj", "{shared}.down_proj"),
    ("re:{draft}.*",),
    ("{draft}.experts", "{draft_shared}.gate_proj", "{draft_shared}.up_proj", "{draft_shared}.down_proj"),
)
_EDITS: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("drop", "*share*.down_proj.*"),),
    (("drop", "*share*.up_proj.weight_scale*"),),
    (("drop", "*.layers.1.*.experts.2.*_scale*"),),
    (("drop", "*.layers.0.*.experts.7.*"),),
    (("rename", "*share*weight_scale", "weight_scale", "weight_scale_inv"),),
    (("rename", "*weight_scale_inv", "weight_scale_inv", "weight_scale"),),
    (("rename", "*.layers.1.*.experts.7.*", "experts.7.", "experts.12."),),
)
_ONLINE = {"*shared_expert*": "mxfp4"}


def drawn(seed: int, count: int) -> Iterator[Kind]:
    """So many kinds, the same for each seed."""
    for number in range(count):
        random = Random(f"{seed} {number}")
        family = random.choice(sorted(FAMILIES))
        yield Kind(family=family, recipe_name=f"drawn-{seed}-{number}", recipe=_recipe(random, family))


def _recipe(random: Random, family: str) -> Recipe:
    block = random.choice(["", *BLOCKS])
    usual = _STORED_AS[block]
    several = FAMILIES[family].several and random.random() < 0.35
    drafted = FAMILIES[family].draft is not None and random.random() < 0.4
    plain = random.random() < 0.3  # as exporters leave a draft
    routed = usual if random.random() < 0.9 else random.choice(sorted(STORES))
    alike = FAMILIES[family].projections == LONG and {routed, usual} <= _TWO_DIMENSIONAL
    return Recipe(
        block=block,
        left_out=random.choice(_LEFT_OUT) if block and random.random() < 0.5 else (),
        routed=routed,
        shared=random.choice([usual, usual, "plain", random.choice(sorted(STORES))]),
        experts=2 if several else 1,
        told=1.0 if random.random() < 0.9 else random.choice([0.5, 2.0]),
        stored=1.0 if random.random() < 0.85 else random.choice([0.5, 2.0]),
        edits=() if random.random() < 0.8 else random.choice(_EDITS),
        targets=_ONLINE if block == "quark_mxfp4" and random.random() < 0.3 else {},
        draft=("plain", "plain") if drafted and plain else (usual, usual) if drafted else (),
        batched=alike and random.random() < 0.2,
    )
