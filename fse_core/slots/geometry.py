"""Which rectangles of a shared expert's matrices a rank holds, and where in its fused tensors they lie.

Source: models/utils.py:505-572 (the slots), fused_moe/routed_experts.py:529-629 (a rank's slice of each) at 0.33.0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from fse_core.errors import InputError
from fse_core.slots.layout import Layout
from fse_core.slots.names import Projection
from fse_core.slots.window import Window


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """The numbers of one fused layer.

    intermediate: how wide a slot is on all ranks together, as a routed expert is.
    routed: how many experts lie before the first slot on this rank.
    shared: how many shared experts, and so slots, there are. tp, rank: over how many ranks each slot is cut, and which
        of them this is; with expert parallelism 1 and 0, for then each rank holds every slot whole.
    """

    hidden: int
    intermediate: int
    routed: int
    shared: int = 1
    tp: int = 1
    rank: int = 0

    def __post_init__(self) -> None:
        for name in ("hidden", "intermediate", "shared", "tp"):
            if getattr(self, name) < 1:
                raise InputError(name, f"expected at least 1, got {getattr(self, name)}")
        if self.routed < 0 or not 0 <= self.rank < self.tp:
            raise InputError("rank", f"no rank {self.rank} of {self.tp}, or fewer than 0 routed experts: {self.routed}")
        if self.intermediate % self.tp:
            raise InputError("intermediate", f"{self.intermediate} columns cannot be cut over tp {self.tp}")

    @property
    def partition(self) -> int:
        """How wide this rank's share of a slot is."""
        return self.intermediate // self.tp

    @property
    def slots(self) -> range:
        """Which of the rank's experts are the shared ones."""
        return range(self.routed, self.routed + self.shared)


def check_layout(geometry: Geometry, layout: Layout) -> None:
    """InputError, with the numbers, where a rank's share of a slot would end inside of a group or block.

    The release cuts scales by floor division: 1 of 1.5 groups is then loaded, without a word. (The 128-blocks of FP8 it
    can divide further, or pad; there is no quantizing into such a grid here.)
    """
    if geometry.partition % layout.unit:
        raise InputError(
            "intermediate",
            f"{geometry.intermediate} columns over tp {geometry.tp} are {geometry.partition} a rank, "
            f"not a multiple of {layout.unit}: {layout.name} shares a scale among that many",
        )
    if geometry.hidden % layout.group:
        raise InputError(
            "hidden", f"{geometry.hidden} columns are not a multiple of {layout.group}, a group of {layout.name}"
        )


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A rectangle of one projection's matrix, counted in weights, and its place.

    fused, slot: the fused tensor's name up to `_`, and the expert in it. half: 1 in the lower half of w13, else 0.
    whole: all of the slot's rectangle in the checkpoint's matrix; `source` is what of it this rank holds.
    target: the place in the slot's matrix.
    """

    projection: Projection
    fused: Literal["w13", "w2"]
    slot: int
    half: int
    whole: Window
    source: Window
    target: Window

    def quantizes_apart(self, layout: Layout) -> bool:
        """Whether the rank's share alone gives the same bytes, for no scale depends on what other ranks hold."""
        rows, columns = layout.block
        cut_rows, cut_columns = self.source.rows != self.whole.rows, self.source.columns != self.whole.columns
        return not (cut_rows and rows is None) and not (cut_columns and columns is None)


def pieces(geometry: Geometry, projections: tuple[Projection, ...], *, seam: int | None = None) -> Iterator[Piece]:
    """What this rank holds of a matrix with these projections, slot by slot.

    `seam` is the row of w13 at which the up projection begins: more than the partition where a backend pads it.
    """
    begins = geometry.partition if seam is None else seam
    for index, projection in enumerate(projections):
        above = index * geometry.shared * geometry.intermediate
        for number, slot in enumerate(geometry.slots):
            start = number * geometry.intermediate
            if projection == "down":
                yield _down(geometry, slot, start)
            else:
                yield _row(geometry, projection, slot, above + start, begins)


def _share(geometry: Geometry, start: int) -> range:
    first = start + geometry.rank * geometry.partition
    return range(first, first + geometry.partition)


def _down(geometry: Geometry, slot: int, start: int) -> Piece:
    rows = range(geometry.hidden)
    return Piece(
        projection="down",
        fused="w2",
        slot=slot,
        half=0,
        whole=Window(rows=rows, columns=range(start, start + geometry.intermediate)),
        source=Window(rows=rows, columns=_share(geometry, start)),
        target=Window(rows=rows, columns=range(geometry.partition)),
    )


def _row(geometry: Geometry, projection: Projection, slot: int, start: int, seam: int) -> Piece:
    half = int(projection == "up")
    columns = range(geometry.hidden)
    return Piece(
        projection=projection,
        fused="w13",
        slot=slot,
        half=half,
        whole=Window(rows=range(start, start + geometry.intermediate), columns=columns),
        source=Window(rows=_share(geometry, start), columns=columns),
        target=Window(rows=range(half * seam, half * seam + geometry.partition), columns=columns),
    )
