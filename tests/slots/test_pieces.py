"""Where the slices go: held against the release's own steps, done on matrices of coordinates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fse_core.errors import InputError
from fse_core.slots import LAYOUTS, Geometry, Projection, check_layout, layout, pieces

Place = tuple[str, int, int, int]
"""A fused tensor, and an element of it."""


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    tp = draw(st.integers(1, 4))
    return Geometry(
        hidden=draw(st.integers(1, 6)),
        intermediate=tp * draw(st.integers(1, 4)),
        routed=draw(st.integers(0, 3)),
        shared=draw(st.integers(1, 3)),
        tp=tp,
        rank=draw(st.integers(0, tp - 1)),
    )


def released(geometry: Geometry, projection: Projection, seam: int) -> dict[Place, tuple[int, int]]:
    """Cut into slots, then into ranks, then copied to the front of each half: where each element of a matrix lands."""
    down = projection == "down"
    wide = geometry.shared * geometry.intermediate
    long = range(wide)
    chunks = [long[n * geometry.intermediate : (n + 1) * geometry.intermediate] for n in range(geometry.shared)]
    landed: dict[Place, tuple[int, int]] = {}
    for number, chunk in enumerate(chunks):
        each = len(chunk) // geometry.tp
        share = chunk[each * geometry.rank : each * (geometry.rank + 1)]
        slot = geometry.routed + number
        for place, index in enumerate(share):
            for other in range(geometry.hidden):
                if down:
                    landed["w2", slot, other, place] = other, index
                else:
                    landed["w13", slot, place + (seam if projection == "up" else 0), other] = index, other
    return landed


@given(geometries(), st.sampled_from(["gate", "up", "down"]), st.integers(0, 3))
def test_each_element_lands_where_the_release_puts_it(geometry: Geometry, projection: Projection, padding: int) -> None:
    seam = geometry.partition + padding
    landed: dict[Place, tuple[int, int]] = {}
    for piece in pieces(geometry, (projection,), seam=seam):
        assert piece.source.shape == piece.target.shape
        for to_row, from_row in zip(piece.target.rows, piece.source.rows, strict=True):
            for to_column, from_column in zip(piece.target.columns, piece.source.columns, strict=True):
                place = piece.fused, piece.slot, to_row, to_column
                assert place not in landed
                landed[place] = from_row, from_column
    assert landed == released(geometry, projection, seam)


@given(geometries())
def test_stacked_gate_and_up_land_like_two_matrices(geometry: Geometry) -> None:
    stacked = list(pieces(geometry, ("gate", "up")))
    split = [*pieces(geometry, ("gate",)), *pieces(geometry, ("up",))]
    below = geometry.shared * geometry.intermediate
    for one, other in zip(stacked, split, strict=True):
        lower = below if one.projection == "up" else 0
        assert (one.fused, one.slot, one.target) == (other.fused, other.slot, other.target)
        assert one.source.rows == range(other.source.rows.start + lower, other.source.rows.stop + lower)


@pytest.mark.parametrize(
    ("name", "tp", "cut_alone"),
    [
        ("mxfp4", 4, {"gate": True, "up": True, "down": True}),
        ("fp8_block", 4, {"gate": True, "up": True, "down": True}),
        ("fp8_channel", 4, {"gate": True, "up": True, "down": False}),
        ("fp8_tensor", 4, {"gate": False, "up": False, "down": False}),
        ("fp8_tensor", 1, {"gate": True, "up": True, "down": True}),
    ],
)
def test_which_slices_may_be_quantized_alone(name: str, tp: int, cut_alone: dict[Projection, bool]) -> None:
    geometry = Geometry(hidden=256, intermediate=512, routed=8, tp=tp)
    for projection, alone in cut_alone.items():
        (piece,) = pieces(geometry, (projection,))
        assert piece.quantizes_apart(layout(name)) is alone, projection


@pytest.mark.parametrize(
    ("name", "hidden", "intermediate", "tp", "numbers"),
    [
        ("mxfp4", 256, 192, 4, "192 columns over tp 4 are 48 a rank, not a multiple of 32"),
        ("mxfp8", 256, 2880, 4, "2880 columns over tp 4 are 720 a rank, not a multiple of 32"),
        ("fp8_block", 256, 2048, 32, "2048 columns over tp 32 are 64 a rank, not a multiple of 128"),
        ("fp8_block", 256, 192, 1, "192 columns over tp 1 are 192 a rank, not a multiple of 128"),
        ("mxfp4", 240, 256, 1, "240 columns are not a multiple of 32"),
    ],
)
def test_what_straddles_is_refused_with_the_numbers(
    name: str, hidden: int, intermediate: int, tp: int, numbers: str
) -> None:
    geometry = Geometry(hidden=hidden, intermediate=intermediate, routed=8, tp=tp)
    with pytest.raises(InputError, match=numbers):
        check_layout(geometry, layout(name))


@pytest.mark.parametrize(
    ("name", "hidden", "intermediate", "tp"),
    [
        ("mxfp4", 7168, 2048, 64),
        ("fp8_block", 7168, 2048, 16),
        ("fp8_block", 2880, 512, 4),
        ("fp8_channel", 7, 6, 2),
        ("fp8_tensor", 7, 6, 2),
    ],
)
def test_what_divides_is_let_through(name: str, hidden: int, intermediate: int, tp: int) -> None:
    check_layout(Geometry(hidden=hidden, intermediate=intermediate, routed=8, tp=tp), layout(name))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"intermediate": 10, "tp": 4}, "10 columns cannot be cut over tp 4"),
        ({"rank": 2, "tp": 2}, "no rank 2 of 2"),
        ({"shared": 0}, "expected at least 1, got 0"),
    ],
)
def test_impossible_numbers_are_refused(wrong: dict[str, int], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Geometry(**{"hidden": 4, "intermediate": 8, "routed": 8, **wrong})


def test_mxfp6_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="the routed experts are mxfp6_e3m2: no shared expert can be stored as MXFP6"):
        layout("mxfp6_e3m2")


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=f"'int4' is none of {', '.join(LAYOUTS)}"):
        layout("int4")
