"""What copying one tensor does, from shapes alone. Measured with torch and the releases' own loaders."""

import pytest

from fse_core.loads.copying import Refused, Unknown, copied, cut
from fse_core.loads.rooms import Room, Shape
from fse_core.quantization.fields import Field, FieldKind
from fse_core.read.safetensors.names import Kind


def room(kind: Kind, shape: Shape, field: FieldKind = "weight") -> Room:
    return Room(kind=kind, field=Field(leaf="weight", kind=field, dtype="BF16"), shape=shape)


@pytest.mark.parametrize(
    ("shape", "kind", "leaf", "pieces", "expected"),
    [
        ((512, 256), "gate", "weight", 2, (256, 256)),
        ((256, 512), "down", "weight", 2, (256, 256)),
        ((256,), "down", "weight_scale", 2, (128,)),
        ((256, 1), "down", "weight_scale", 1, (256, 1)),
        ((1,), "down", "input_scale", 1, (1,)),
    ],
)
def test_a_tensor_is_cut_evenly(shape: Shape, kind: Kind, leaf: str, pieces: int, expected: Shape) -> None:
    assert cut(shape, kind, leaf, pieces, blind=False, error="ValueError") == expected


@pytest.mark.parametrize(
    ("shape", "kind", "pieces", "blind", "error"),
    [
        ((), "gate", 1, False, "IndexError"),
        ((257, 256), "gate", 2, False, "ValueError"),
        ((256, 1), "down", 2, False, "ValueError"),
        ((1,), "up", 2, False, "ValueError"),
        ((256,), "down", 1, True, "IndexError"),
        ((256,), "gate", 1, True, "IndexError"),
    ],
)
def test_what_cannot_be_cut(shape: Shape, kind: Kind, pieces: int, blind: bool, error: str) -> None:
    assert cut(shape, kind, "weight", pieces, blind=blind, error="ValueError") == Refused(type=error)


@pytest.mark.parametrize(
    ("shape", "target", "tp", "written"),
    [
        ((256, 256), room("gate", (256, 256)), 1, 65536),
        ((256, 256), room("gate", (128, 256)), 2, 32768),
        ((256, 256), room("down", (256, 128)), 2, 32768),
        ((128, 256), room("gate", (256, 256)), 1, 32768),
        ((256, 128), room("down", (256, 256)), 1, 32768),
        ((), room("gate", (2, 2), "grid"), 1, 4),
        ((1,), room("gate", (2, 2), "grid"), 1, 2),
        ((2, 2), room("up", (256, 8), "grid"), 1, 4),
        ((128,), room("down", (256,), "row"), 1, 128),
        ((256,), room("down", (256,), "row"), 2, 256),
        ((256, 1), room("down", (256, 1), "column"), 1, 256),
        ((), room("down", (), "one"), 1, 1),
        ((1, 1), room("gate", (), "both"), 1, 1),
        ((1, 256), room("gate", (2, 256)), 2, 0),
    ],
)
def test_how_much_is_written(shape: Shape, target: Room, tp: int, written: int) -> None:
    assert copied(shape, target, tp) == written


@pytest.mark.parametrize(
    ("shape", "target", "error"),
    [
        ((512, 256), room("gate", (256, 256)), "RuntimeError"),
        ((256, 256), room("gate", (256, 128)), "RuntimeError"),
        ((256, 1), room("gate", (256,), "row"), "RuntimeError"),
        ((256,), room("down", (256, 2), "grid"), "IndexError"),
        ((256,), room("gate", (2, 2), "grid"), "RuntimeError"),
        ((2,), room("gate", (), "one"), "RuntimeError"),
    ],
)
def test_what_does_not_fit(shape: Shape, target: Room, error: str) -> None:
    assert copied(shape, target, 1) == Refused(type=error)


def test_tensors_of_many_experts_are_not_told() -> None:
    with pytest.raises(Unknown):
        copied((8, 256, 256), room("gate", (256, 256)), 1)
