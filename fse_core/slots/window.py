"""A rectangle of a matrix."""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, kw_only=True)
class Window:
    """Some rows and columns, next to each other, of a matrix."""

    rows: range
    columns: range

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    def over(self, rows: int | None, columns: int | None) -> Self:
        """The blocks of so many rows and columns that cover this; None stands for a block without an end."""
        return type(self)(rows=_blocks(self.rows, rows), columns=_blocks(self.columns, columns))

    def within(self, outer: Self) -> Self:
        """The same rectangle, counted from the corner of one around it."""
        return type(self)(
            rows=_shifted(self.rows, outer.rows.start), columns=_shifted(self.columns, outer.columns.start)
        )


def _blocks(span: range, size: int | None) -> range:
    return range(1) if size is None else range(span.start // size, -(-span.stop // size))


def _shifted(span: range, by: int) -> range:
    return range(span.start - by, span.stop - by)
