"""How one projection of an expert may be stored: its tensors, from its name, rows and columns."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from conformance.checkpoints import tensors
from conformance.checkpoints.tensors import Tensor

Store = Callable[[str, int, int], Iterator[Tensor]]
"""The tensors of one projection, from its name, rows and columns."""

BLOCK, GROUP, SMALL_GROUP = 128, 32, 16


def _plain(name: str, rows: int, columns: int) -> Iterator[Tensor]:
    yield tensors.weights(f"{name}.weight", rows, columns)


def _turned(name: str, rows: int, columns: int) -> Iterator[Tensor]:
    yield tensors.weights(f"{name}.weight", columns, rows)


def _blocks(name: str, rows: int, columns: int, *, scale: str = "weight_scale_inv") -> Iterator[Tensor]:
    yield tensors.codes(f"{name}.weight", rows, columns)
    yield tensors.scales(f"{name}.{scale}", -(-rows // BLOCK), -(-columns // BLOCK))


def _scaled(name: str, rows: int, columns: int, *, dimensions: int, static: bool = False) -> Iterator[Tensor]:
    """FP8 with one scale, of no or of one dimension."""
    yield tensors.codes(f"{name}.weight", rows, columns)
    yield tensors.scales(f"{name}.weight_scale", *(1,) * dimensions)
    if static:
        yield tensors.scales(f"{name}.input_scale", *(1,) * dimensions)


def _rows(name: str, rows: int, columns: int, *, column: bool = False) -> Iterator[Tensor]:
    """FP8 with one scale a row, as a list or as a column."""
    yield tensors.codes(f"{name}.weight", rows, columns)
    yield tensors.scales(f"{name}.weight_scale", rows, *(1,) * column)


def _mxfp4(name: str, rows: int, columns: int) -> Iterator[Tensor]:
    yield tensors.nibbles(f"{name}.weight", rows, columns // 2)
    yield tensors.exponents(f"{name}.weight_scale", rows, columns // GROUP)


def _mxfp8(name: str, rows: int, columns: int, *, scale: str = "weight_scale") -> Iterator[Tensor]:
    yield tensors.codes(f"{name}.weight", rows, columns)
    yield tensors.exponents(f"{name}.{scale}", rows, columns // GROUP)


def _nvfp4(name: str, rows: int, columns: int) -> Iterator[Tensor]:
    yield tensors.nibbles(f"{name}.weight", rows, columns // 2)
    yield tensors.codes(f"{name}.weight_scale", rows, columns // SMALL_GROUP)
    yield tensors.scales(f"{name}.weight_scale_2")
    yield tensors.scales(f"{name}.input_scale")


def _mxfp4_packed(name: str, rows: int, columns: int) -> Iterator[Tensor]:
    """As auto-round calls it."""
    yield tensors.nibbles(f"{name}.weight_packed", rows, columns // 2)
    yield tensors.exponents(f"{name}.weight_scale", rows, columns // GROUP)


def _v4_fp4(name: str, rows: int, columns: int) -> Iterator[Tensor]:
    """As DeepSeek-V4 is published."""
    yield tensors.nibbles(f"{name}.weight", rows, columns // 2)
    yield tensors.exponents(f"{name}.scale", rows, columns // GROUP)


def _v4_fp8(name: str, rows: int, columns: int) -> Iterator[Tensor]:
    yield tensors.codes(f"{name}.weight", rows, columns)
    yield tensors.exponents(f"{name}.scale", rows // BLOCK, columns // BLOCK)


def _unscaled(name: str, rows: int, columns: int) -> Iterator[Tensor]:
    yield tensors.codes(f"{name}.weight", rows, columns)


STORES: Mapping[str, Store] = {
    "plain": _plain,
    "turned": _turned,
    "blocks": _blocks,
    "blocks_other_name": partial(_blocks, scale="weight_scale"),
    "tensor": partial(_scaled, dimensions=0),
    "tensor_of_one": partial(_scaled, dimensions=1),
    "static": partial(_scaled, dimensions=0, static=True),
    "static_of_one": partial(_scaled, dimensions=1, static=True),
    "rows": _rows,
    "row_column": partial(_rows, column=True),
    "mxfp4": _mxfp4,
    "mxfp8": _mxfp8,
    "mxfp8_other_name": partial(_mxfp8, scale="weight_scale_inv"),
    "nvfp4": _nvfp4,
    "unscaled": _unscaled,
    "v4_fp4": _v4_fp4,
    "v4_fp8": _v4_fp8,
}

PACKED: Store = _mxfp4_packed
V4_FP4, V4_FP8 = STORES["v4_fp4"], STORES["v4_fp8"]
