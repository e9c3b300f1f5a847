"""What is loaded into the slots of a layer, with something like the release's module around them."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from fse_core.quantize import formats
from fse_core.vllm_plugin import shared_slots
from fse_core.vllm_plugin.patches import expert_weight_loader

ROUTED, HIDDEN, WIDE = 2, 128, 128
WEIGHT = torch.linspace(-2, 2, WIDE * HIDDEN).view(WIDE, HIDDEN).to(torch.bfloat16)


class Experts(torch.nn.Module):
    """Fused tensors of two routed experts and one shared one, in MXFP4 unless another scale is given."""

    def __init__(self, weight: torch.dtype = torch.uint8) -> None:
        super().__init__()
        self.moe_config = SimpleNamespace(num_logical_experts=ROUTED)
        self.expert_map_manager = SimpleNamespace(num_fused_shared_experts=1)
        columns = HIDDEN // 2 if weight == torch.uint8 else HIDDEN
        for name, size in {"weight": (weight, columns), "weight_scale": (torch.uint8, HIDDEN // 32)}.items():
            for fused in ("w13", "w2"):
                value = torch.zeros(ROUTED + 1, WIDE, size[1], dtype=size[0])
                self.register_parameter(f"{fused}_{name}", torch.nn.Parameter(value, requires_grad=False))

    calls: list[tuple[str, str, int]]
    w13_weight: torch.nn.Parameter
    w2_weight: torch.nn.Parameter
    w2_weight_scale: torch.nn.Parameter


def original(
    self: Experts,
    param: Any,
    loaded_weight: torch.Tensor,
    weight_name: str,
    shard_id: str,
    expert_id: int,
    return_success: bool = False,
) -> bool | None:
    """As the release: the tensor goes to its expert, and a packed slot takes nothing else."""
    param.data[expert_id].copy_(loaded_weight)
    self.__dict__.setdefault("calls", []).append((weight_name, shard_id, expert_id))
    return True if return_success else None


load = expert_weight_loader.PATCH.wrap(original)


def test_a_full_precision_weight_is_quantized_into_its_slot() -> None:
    experts = Experts()
    shared_slots.mark(experts, "mxfp4")
    assert load(experts, experts.w2_weight, WEIGHT, "a.w2_weight", "w2", ROUTED, return_success=True) is True
    expected = formats()["mxfp4"].quantize(WEIGHT)
    assert torch.equal(experts.w2_weight[ROUTED], expected.payload)
    assert torch.equal(experts.w2_weight_scale[ROUTED], expected.scale)
    assert experts.calls == [("a.w2_weight_scale", "w2", ROUTED), ("a.w2_weight", "w2", ROUTED)]


def test_nothing_is_returned_where_nothing_is_asked_for() -> None:
    experts = Experts()
    shared_slots.mark(experts, "mxfp4")
    assert load(experts, experts.w13_weight, WEIGHT, "a.w13_weight", "w1", ROUTED) is None


def test_loading_again_gives_the_same_bytes() -> None:
    experts = Experts()
    slots = shared_slots.mark(experts, "mxfp4")
    load(experts, experts.w2_weight, WEIGHT, "a.w2_weight", "w2", ROUTED)
    first = experts.w2_weight.clone()
    load(experts, experts.w2_weight, WEIGHT, "a.w2_weight", "w2", ROUTED)
    assert torch.equal(experts.w2_weight, first)
    assert slots.quantized == {(ROUTED, "w2")}


def test_a_routed_expert_is_left_to_the_release() -> None:
    experts = Experts()
    shared_slots.mark(experts, "mxfp4")
    with pytest.raises(RuntimeError, match="size of tensor"):
        load(experts, experts.w2_weight, WEIGHT, "a.w2_weight", "w2", 0)


def test_what_is_stored_in_the_format_already_is_left_to_the_release() -> None:
    experts = Experts()
    shared_slots.mark(experts, "mxfp4")
    packed = torch.full((WIDE, HIDDEN // 2), 3, dtype=torch.uint8)
    load(experts, experts.w2_weight, packed, "a.w2_weight", "w2", ROUTED)
    assert experts.calls == [("a.w2_weight", "w2", ROUTED)]


def test_a_layer_that_is_not_marked_is_left_to_the_release() -> None:
    experts = Experts(torch.bfloat16)
    load(experts, experts.w2_weight, WEIGHT, "a.w2_weight", "w2", ROUTED)
    assert torch.equal(experts.w2_weight[ROUTED], WEIGHT)


def test_a_slot_that_nothing_is_quantized_for_takes_no_other_kind_of_number() -> None:
    experts = Experts(torch.float8_e4m3fn)
    shared_slots.mark(experts, None)
    with pytest.raises(shared_slots.Mismatch, match=r"is torch\.bfloat16 and its fused slot torch\.float8_e4m3fn"):
        load(experts, experts.w2_weight, WEIGHT, "a.w2_weight", "w2", ROUTED)
    assert not experts.w2_weight[ROUTED].float().any()


def test_a_wider_float_is_no_other_kind_of_number() -> None:
    experts = Experts(torch.bfloat16)
    shared_slots.mark(experts, None)
    load(experts, experts.w2_weight, WEIGHT.float(), "a.w2_weight", "w2", ROUTED)
    assert torch.equal(experts.w2_weight[ROUTED], WEIGHT)


def test_fp8_is_nothing_to_quantize_from() -> None:
    experts = Experts()
    shared_slots.mark(experts, "mxfp4")
    with pytest.raises(shared_slots.Mismatch, match=r"torch\.float8_e4m3fn and its fused slot torch\.uint8"):
        load(experts, experts.w2_weight, WEIGHT.to(torch.float8_e4m3fn), "a.w2_weight", "w2", ROUTED)


def test_the_error_is_measured_where_that_is_asked_for() -> None:
    experts = Experts()
    slots = shared_slots.mark(experts, "mxfp4", measure=True)
    load(experts, experts.w2_weight, WEIGHT, "a.w2_weight", "w2", ROUTED)
    assert slots.errors == [formats()["mxfp4"].error(WEIGHT, formats()["mxfp4"].quantize(WEIGHT))]
    assert slots.errors[0].relative_mse > 0
    slots.forget()
    assert (slots.errors, slots.quantized) == ([], set())


def test_a_release_that_quantizes_the_slot_itself_is_let_do_it() -> None:
    experts = Experts(torch.bfloat16)
    object.__setattr__(experts, "_fused_shared_expert_quantizer", object())
    slots = shared_slots.mark(experts, "mxfp4")
    assert not slots.concerns(torch.zeros(1, dtype=torch.uint8), WEIGHT, "a.w2_weight", ROUTED)
