"""What goes wrong in a layer's loading, in terms that are the same for all layers that are stored alike."""

from dataclasses import dataclass
from typing import Literal

from fse_core.read.safetensors.names import Kind

Side = Literal["routed", "shared"]
Cause = Literal[
    "format",
    "scale_shape",
    "scale_name",
    "scale_missing",
    "width",
    "missing",
    "surplus",
    "absent",
    "unfilled",
    "batched",
]


@dataclass(frozen=True, kw_only=True)
class Left:
    """Bytes of one parameter that are never written, and how many it has."""

    parameter: str
    bytes: int
    of: int


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One cause on one side of a layer.

    cause: the number `format` is another than the parameter's; a scale of another `scale_shape`, under another
        `scale_name` or with none at all (`scale_missing`); another `width`; weights `missing`; a routed expert that is
        `surplus`; a draft's layer that is `absent`; slots that
        the class leaves `unfilled`; routed experts that are `batched` in one tensor, where the class takes none.
    error: the exception with which loading ends, None where nothing is raised. left: what then stays unwritten.
    kind, leaf: a tensor that shows it. stored, made: what the checkpoint holds there, and what the release made for it;
        empty where that is nothing. experts: which routed ones, if not all.
    sure: no tensor that was not read can change it.
    """

    side: Side
    cause: Cause
    error: str | None
    kind: Kind
    leaf: str
    stored: str
    made: str
    left: tuple[Left, ...] = ()
    experts: tuple[int, ...] = ()
    sure: bool = True

    @property
    def consequence(self) -> Literal["load_fails", "silent_corruption"]:
        return "silent_corruption" if self.error is None else "load_fails"
