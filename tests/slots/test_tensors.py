"""What a checkpoint's tensor is, and whether it is as large as its slots."""

import pytest

from fse_core.errors import InputError
from fse_core.slots import PLAIN, Geometry, check_shape, layout, parse

PREFIX = "model.layers.3.mlp.shared_experts"
ONE = Geometry(hidden=256, intermediate=512, routed=8)
TWO = Geometry(hidden=256, intermediate=512, routed=8, shared=2)


@pytest.mark.parametrize(
    ("name", "projections", "part"),
    [
        ("gate_proj.weight", ("gate",), "weight"),
        ("up_proj.weight_scale", ("up",), "scale"),
        ("down_proj.weight_scale_inv", ("down",), "scale"),
        ("gate_up_proj.weight", ("gate", "up"), "weight"),
        ("w1.weight", ("gate",), "weight"),
        ("w2.scale", ("down",), "scale"),
        ("w3.weight", ("up",), "weight"),
        ("w13.weight_scale", ("gate", "up"), "scale"),
    ],
)
def test_names(name: str, projections: tuple[str, ...], part: str) -> None:
    tensor = parse(f"{PREFIX}.{name}", PREFIX)
    assert tensor is not None
    assert (tensor.projections, tensor.part) == (projections, part)


@pytest.mark.parametrize(
    "name", ["model.layers.3.mlp.shared_expert_gate.weight", "model.layers.33.mlp.shared_experts.gate_proj.weight"]
)
def test_other_tensors_are_not_taken(name: str) -> None:
    assert parse(name, "model.layers.3.mlp.shared_expert") is None


@pytest.mark.parametrize("name", ["gate_proj.bias", "down_proj.input_scale", "router.weight"])
def test_what_no_slot_has_a_place_for_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=rf"{name}: a fused slot has no place for the shared expert's {name}"):
        parse(f"{PREFIX}.{name}", PREFIX)


def checked(geometry: Geometry, format: str, name: str, *shape: int) -> None:
    tensor = parse(f"{PREFIX}.{name}", PREFIX)
    assert tensor is not None
    check_shape(geometry, PLAIN if format == "plain" else layout(format), tensor, shape)


@pytest.mark.parametrize(
    ("geometry", "format", "name", "shape"),
    [
        (ONE, "plain", "gate_proj.weight", (512, 256)),
        (TWO, "plain", "gate_up_proj.weight", (2048, 256)),
        (TWO, "plain", "down_proj.weight", (256, 1024)),
        (ONE, "mxfp4", "gate_proj.weight", (512, 128)),
        (TWO, "mxfp4", "down_proj.weight_scale", (256, 32)),
        (TWO, "fp8_block", "gate_proj.weight_scale_inv", (8, 2)),
        (TWO, "fp8_block", "down_proj.weight_scale_inv", (2, 8)),
        (ONE, "fp8_channel", "gate_proj.weight_scale", (512,)),
        (TWO, "fp8_channel", "down_proj.weight_scale", (256, 1)),
        (ONE, "fp8_tensor", "down_proj.weight_scale", (1,)),
    ],
)
def test_what_fits(geometry: Geometry, format: str, name: str, shape: tuple[int, ...]) -> None:
    checked(geometry, format, name, *shape)


@pytest.mark.parametrize(
    ("geometry", "format", "name", "shape", "words"),
    [
        (ONE, "plain", "gate_proj.weight", (256, 256), "is 256x256, and 1 x 512 wide slots take 512x256: .* narrower"),
        (ONE, "plain", "down_proj.weight", (256, 1024), "is 256x1024, and 1 x 512 .* 256x512: .* wider"),
        (TWO, "mxfp4", "down_proj.weight", (256, 256), "is 256x256, and 2 x 512 .* 256x512 as mxfp4: .* narrower"),
        (ONE, "plain", "gate_proj.weight", (512, 128), "is 512x128, and 1 x 512 wide slots take 512x256$"),
        (ONE, "plain", "gate_proj.weight", (512,), "is 512, and"),
        (ONE, "fp8_tensor", "gate_proj.weight_scale", (), "without dimensions cannot be cut into slots; expected 1$"),
        (ONE, "fp8_channel", "gate_proj.weight_scale", (), "without dimensions .* expected 512 or 512x1$"),
        (TWO, "fp8_tensor", "gate_proj.weight_scale", (1,), "one scale cannot be cut into 2 slots"),
        (ONE, "mxfp4", "gate_proj.weight_scale", (512, 16), "is 512x16, and mxfp4 has 512x8 scales here"),
        (ONE, "fp8_block", "down_proj.weight_scale_inv", (2, 2), "is 2x2, and fp8_block has 2x4 scales here"),
        (ONE, "plain", "gate_proj.weight_scale", (512, 8), "a scale, and the routed experts have none"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_numbers(
    geometry: Geometry, format: str, name: str, shape: tuple[int, ...], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        checked(geometry, format, name, *shape)
