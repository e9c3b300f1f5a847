"""How large a shared expert's tensors have to be in the checkpoint."""

from fse_core.errors import InputError
from fse_core.slots.geometry import Geometry
from fse_core.slots.layout import PLAIN, Layout
from fse_core.slots.names import SharedTensor

Shape = tuple[int, ...]


def shapes(geometry: Geometry, layout: Layout, tensor: SharedTensor) -> tuple[Shape, ...]:
    """The shapes that `tensor` may have when it is stored in `layout`."""
    wide = geometry.shared * geometry.intermediate
    down = tensor.projections == ("down",)
    rows, columns = (geometry.hidden, wide) if down else (len(tensor.projections) * wide, geometry.hidden)
    if tensor.part == "weight":
        return ((rows, columns // layout.packed),)
    high, across = layout.block
    if high is None:
        return ((1,),)
    blocks = -(-rows // high)
    return ((blocks,), (blocks, 1)) if across is None else ((blocks, -(-columns // across)),)


def check_shape(geometry: Geometry, layout: Layout, tensor: SharedTensor, shape: Shape) -> None:
    """InputError, with the numbers, where the tensor does not fit its slots. A weight in full precision has PLAIN."""
    if tensor.part == "scale":
        _check_scale(geometry, layout, tensor, shape)
        return
    expected = shapes(geometry, layout, tensor)[0]
    if shape == expected:
        return
    stored = "" if layout is PLAIN else f" as {layout.name}"
    how = (
        f"is {_text(shape)}, and {geometry.shared} x {geometry.intermediate} wide slots take {_text(expected)}{stored}"
    )
    axis = int(tensor.projections == ("down",))
    if len(shape) == 2 and shape[1 - axis] == expected[1 - axis]:
        how += f": the shared expert is {'narrower' if shape[axis] < expected[axis] else 'wider'} than its slots"
    raise InputError(tensor.name, how)


def _check_scale(geometry: Geometry, layout: Layout, tensor: SharedTensor, shape: Shape) -> None:
    if layout.scale is None:
        raise InputError(tensor.name, "a scale, and the routed experts have none")
    expected = shapes(geometry, layout, tensor)
    if not shape:
        wanted = " or ".join(map(_text, expected))
        raise InputError(tensor.name, f"a scale without dimensions cannot be cut into slots; expected {wanted}")
    if shape not in expected:
        wanted = " or ".join(map(_text, expected))
        raise InputError(tensor.name, f"is {_text(shape)}, and {layout.name} has {wanted} scales here")
    if layout.block == (None, None) and geometry.shared > 1:
        raise InputError(tensor.name, f"one scale cannot be cut into {geometry.shared} slots")


def _text(shape: Shape) -> str:
    return "x".join(map(str, shape)) if shape else "without dimensions"
