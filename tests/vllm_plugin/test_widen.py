"""FP8 shared experts in full precision, from a checkpoint in any order."""

import itertools

import pytest
import torch
from torch import Tensor

from fse_core.vllm_plugin.widen import widened

STEM = "layers.0.ffn.shared_experts.w1"
WEIGHT = torch.linspace(-2, 2, 256 * 128).view(256, 128).to(torch.float8_e4m3fn)
EXPONENTS = torch.tensor([[126], [129]], dtype=torch.uint8)
EXPECTED = (WEIGHT.float() * torch.tensor([0.5, 4.0]).repeat_interleave(128)[:, None]).to(torch.bfloat16)


def all_of(*weights: tuple[str, Tensor]) -> dict[str, Tensor]:
    return dict(widened(weights))


@pytest.mark.parametrize(
    ("suffix", "scale"),
    [
        ("scale", EXPONENTS),
        ("scale", EXPONENTS.view(torch.float8_e8m0fnu)),
        ("weight_scale_inv", torch.tensor([[0.5], [4.0]])),
    ],
)
def test_weight_and_scales_become_one_tensor_whichever_comes_first(suffix: str, scale: Tensor) -> None:
    for order in itertools.permutations([(f"{STEM}.weight", WEIGHT), (f"{STEM}.{suffix}", scale)]):
        found = all_of(*order)
        assert list(found) == [f"{STEM}.weight"]
        assert torch.equal(found[f"{STEM}.weight"], EXPECTED)


def test_all_else_is_passed_on_as_it_comes() -> None:
    others = (
        ("layers.0.ffn.experts.0.w1.weight", WEIGHT),
        ("layers.0.ffn.experts.0.w1.scale", EXPONENTS),
        ("layers.0.attn.wq.weight", WEIGHT),
        (f"{STEM}.weight", EXPECTED),
        (f"{STEM}.bias", EXPECTED),
    )
    assert list(widened(others)) == list(others)


def test_what_has_no_counterpart_is_left_to_the_release() -> None:
    assert list(widened([(f"{STEM}.weight", WEIGHT)])) == [(f"{STEM}.weight", WEIGHT)]
