"""Which tensors are a layer's, in every manner of naming, and which files show them."""

import pytest

from fse_core.read.safetensors.facts import Headers, Tensor
from fse_core.read.safetensors.kinds import layer_kinds, layer_names, stored_layers
from fse_core.read.safetensors.layer import LayerTensors
from fse_core.read.safetensors.names import LayerName, head_of, role_of
from fse_core.read.safetensors.sample import chosen
from fse_core.report import Decision, Layer, PartName
from tests.safetensors_files import Entry, deepseek, expert


def headers(tensors: dict[str, Entry]) -> Headers:
    return Headers(
        tensors={
            name: Tensor(name=name, dtype=dtype, shape=shape, file="x") for name, (dtype, shape) in tensors.items()
        },
        files={},
    )


def layer(prefix: str, index: int, part: PartName = "target", decision: Decision | None = None) -> Layer:
    return Layer(
        index=index,
        part=part,
        prefix=prefix,
        experts=f"{prefix}.experts",
        shared=f"{prefix}.shared_experts",
        slots=1,
        mode="aiter",
        decision=decision or Decision(decision="fused"),
    )


def stored(tensors: list[str], prefix: str, index: int, part: PartName = "target", last: int = 60) -> LayerTensors:
    """The one layer as stored, beside the target's last one."""
    mine = layer(prefix, index, part)
    others = [layer(f"model.layers.{last}.mlp", last)] if part == "draft" else []
    found = stored_layers(headers(dict.fromkeys(tensors, ("BF16", (2, 2)))), [mine, *others])
    return found[part, prefix]


NAMING = [
    # checkpoint's routed and shared expert, then the module's prefix
    ("model.layers.3.mlp.experts.0", "model.layers.3.mlp.shared_experts", "model.layers.3.mlp"),
    ("model.layers.3.mlp.experts.0", "model.layers.3.mlp.shared_expert", "model.layers.3.mlp"),
    (
        "model.language_model.layers.3.mlp.experts.0",
        "model.language_model.layers.3.mlp.shared_expert",
        "language_model.model.layers.3.mlp",
    ),
    (
        "language_model.model.layers.3.mlp.experts.0",
        "language_model.model.layers.3.mlp.shared_experts",
        "language_model.model.layers.3.mlp",
    ),
    ("backbone.layers.3.mixer.experts.0", "backbone.layers.3.mixer.shared_experts", "model.layers.3.mixer"),
    ("model.layers.3.mlp.experts.0", "model.layers.3.mlp.shared_mlp", "model.layers.3.mlp"),
    ("layers.3.experts.0", "layers.3.shared_experts", "model.layers.3.mlp"),
    ("model.layers.3.feed_forward.experts.0", "model.layers.3.feed_forward.shared_expert", "x.layers.3.feed_forward"),
    ("model.layers.3.mlp.experts.0", "model.layers.3.mlp.shared_experts.0", "model.layers.3.mlp"),
]


@pytest.mark.parametrize(("routed", "shared", "prefix"), NAMING)
def test_projections_named_in_full(routed: str, shared: str, prefix: str) -> None:
    leaves = ("gate_proj.weight", "up_proj.weight", "down_proj.weight")
    found = stored([f"{name}.{leaf}" for name in (routed, shared) for leaf in leaves], prefix, 3)
    assert list(found.routed) == [0]
    assert {kind: one.name for kind, one in found.shared.items()} == {
        "gate": "gate_proj",
        "up": "up_proj",
        "down": "down_proj",
    }
    assert found.usual is not None
    assert found.usual.keys() == found.shared.keys()


@pytest.mark.parametrize(
    ("head", "prefix"),
    [
        ("layers.3.ffn", "model.layers.3.ffn"),
        ("language_model.model.layers.3.block_sparse_moe", "language_model.model.layers.3.block_sparse_moe"),
        ("language_model.layers.3.ffn", "language_model.model.layers.3.ffn"),
    ],
)
def test_projections_named_by_number(head: str, prefix: str) -> None:
    names = [
        f"{head}.{expert}.{leaf}.weight" for expert in ("experts.7", "shared_experts") for leaf in ("w1", "w2", "w3")
    ]
    found = stored(names, prefix, 3)
    assert {kind: one.name for kind, one in found.routed[7].items()} == {"gate": "w1", "up": "w3", "down": "w2"}
    assert set(found.shared) == {"gate", "up", "down"}


def test_one_tensor_for_all_experts() -> None:
    names = [
        "experts.gate_up_proj",
        "experts.down_proj",
        "experts.gate_up_proj_scale",
        "shared_expert.down_proj.weight",
    ]
    found = stored(
        [f"model.language_model.layers.0.mlp.{name}" for name in names], "language_model.model.layers.0.mlp", 0
    )
    assert list(found.routed) == [None]
    assert set(found.routed[None]) == {"gate_up", "down"}
    assert set(found.routed[None]["gate_up"].parts) == {"", "scale"}
    weight = found.routed[None]["gate_up"].weight
    assert weight is not None
    assert weight.name.endswith("gate_up_proj")


def test_experts_without_a_room_of_their_own() -> None:
    names = [f"model.layers.4.{name}_proj.weight" for name in ("moe.gate", "moe.up", "moe.down", "share_expert.down")]
    found = stored([*names, "model.layers.4.moe.gate.weight"], "model.layers.4", 4)
    assert (set(found.routed[None]), set(found.shared)) == ({"gate", "up", "down"}, {"down"})


@pytest.mark.parametrize(
    ("head", "prefix", "index", "last"),
    [
        ("model.layers.61", "model.layers.61.mlp", 61, 60),
        ("mtp.layers.0", "mtp.layers.0.mlp", 0, 47),
        ("mtp.0", "model.layers.43.ffn", 43, 42),
        ("language_model.model.mtp.layers.0", "model.layers.0.block_sparse_moe", 0, 59),
        ("mtp.layers.1", "mtp.layers.1.mixer", 1, 107),
    ],
)
def test_drafts(head: str, prefix: str, index: int, last: int) -> None:
    target = [f"model.layers.{number}.mlp.experts.0.up_proj.weight" for number in (0, 1, 43) if number <= last]
    names = [f"{head}.mlp.experts.0.down_proj.weight", f"{head}.mlp.shared_experts.down_proj.weight"]
    found = stored([*target, *names], prefix, index, "draft", last)
    assert (found.head, set(found.shared)) == (head, {"down"})


def test_the_target_takes_no_layer_of_the_draft() -> None:
    assert head_of(LayerName(number=0), ["mtp.layers.0"]) is None
    assert head_of(LayerName(number=0), ["mtp.layers.0", "model.layers.0"]) == "model.layers.0"


def test_a_draft_takes_no_layer_of_the_target() -> None:
    names = layer_names([layer("model.layers.0.mlp", 0), layer("mtp.layers.0.mlp", 0, "draft")])
    assert head_of(names["draft", "mtp.layers.0.mlp"], ["model.layers.0"]) is None


def test_two_towers_with_the_same_number_are_not_told_apart() -> None:
    assert head_of(LayerName(number=3), ["thinker.model.layers.3", "talker.model.layers.3"]) is None


@pytest.mark.parametrize(
    "name",
    [
        "model.layers.3.mlp.gate.weight",
        "model.layers.3.mlp.gate_proj.weight",
        "model.layers.3.mlp.shared_expert_gate.weight",
        "model.layers.3.mlp.experts.e_score_correction_bias",
        "model.layers.3.self_attn.q_proj.weight",
        "lm_head.weight",
        "experts.0.gate_proj.weight",
        "",
        "....",
    ],
)
def test_what_is_no_part_of_an_expert(name: str) -> None:
    assert role_of(name) is None


def test_scales_by_leaf() -> None:
    name = "model.layers.3.mlp.experts.0.up_proj"
    found = stored_layers(
        headers(
            {
                f"{name}.weight_packed": ("U8", (64, 32)),
                f"{name}.weight_scale": ("F8_E4M3", (64, 4)),
                f"{name}.weight_global_scale": ("F32", (1,)),
                f"{name}.input_scale": ("F32", ()),
                f"{name}.qzeros": ("I32", (1, 8)),
            }
        ),
        [layer("model.layers.3.mlp", 3)],
    )["target", "model.layers.3.mlp"].routed[0]["up"]
    assert found.weight is not None
    assert (found.weight.dtype, found.weight.shape) == ("U8", (64, 32))
    assert {leaf: len(tensor.shape) for leaf, tensor in found.scales.items()} == {
        "weight_scale": 2,
        "weight_global_scale": 1,
        "input_scale": 0,
    }


def test_experts_that_are_stored_unlike_the_rest() -> None:
    tensors = deepseek(range(3, 4), 8)
    del tensors["model.layers.3.mlp.experts.5.up_proj.weight_scale_inv"]
    found = stored_layers(headers(tensors), [layer("model.layers.3.mlp", 3)])["target", "model.layers.3.mlp"]
    assert found.alike == ((0, 1, 2, 3, 4, 6, 7), (5,))
    assert found.usual is found.routed[0]


def test_layers_that_are_decided_about_alike_are_one_kind() -> None:
    apart = Decision(decision="separate", reason="so")
    layers = [layer(f"model.layers.{n}.mlp", n, decision=apart if n == 7 else None) for n in range(5, 9)]
    kinds = layer_kinds([*layers, layer("model.layers.9.mlp", 9, "draft")])
    assert [[name.number for name in kind] for kind in kinds] == [[5, 6, 8], [7], [9]]


def test_a_reason_that_names_its_layer_makes_no_kind_of_its_own() -> None:
    apart = [Decision(decision="separate", reason=f"excluded at model.layers.{n}.mlp") for n in range(5, 9)]
    layers = [layer(f"model.layers.{n}.mlp", n, decision=how) for n, how in enumerate(apart, 5)]
    assert [[name.number for name in kind] for kind in layer_kinds(layers)] == [[5, 6, 7, 8]]


def test_as_few_files_as_show_each_kind() -> None:
    tensors = dict.fromkeys(expert("model.layers.4.mlp.experts.1", 2, 2), "b")
    tensors |= dict.fromkeys(expert("model.layers.4.mlp.experts.0", 2, 2), "a")
    tensors |= dict.fromkeys(expert("model.layers.4.mlp.shared_experts", 2, 2), "b")
    tensors |= dict.fromkeys(expert("model.layers.3.mlp.experts.0", 2, 2), "c")
    tensors |= dict.fromkeys(expert("model.layers.3.mlp.shared_experts", 2, 2), "d")
    tensors |= dict.fromkeys(expert("mtp.0.mlp.experts.0", 2, 2), "e")
    four, three = LayerName(number=4), LayerName(number=3)
    assert chosen(tensors, [[three, four]]) == {"b"}
    assert chosen(tensors, [[three], [three, four]]) == {"c", "d"}
    assert chosen(tensors, [[three], [four]]) == {"b", "c", "d"}
    assert chosen(tensors, [[LayerName(number=None, drafts=(0,))], [LayerName(number=9)]]) == {"e"}
    assert chosen(tensors, []) == frozenset()


def test_a_layer_that_lacks_one_of_the_two_stands_for_no_other() -> None:
    tensors = dict.fromkeys(expert("model.layers.3.mlp.experts.0", 2, 2), "a")
    tensors |= dict.fromkeys(expert("model.layers.4.mlp.experts.0", 2, 2), "b")
    tensors |= dict.fromkeys(expert("model.layers.4.mlp.shared_experts", 2, 2), "c")
    assert chosen(tensors, [[LayerName(number=3), LayerName(number=4)]]) == {"b", "c"}
