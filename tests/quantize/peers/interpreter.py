"""Triton's interpreter, on a CPU, mended where it does not do what a GPU does."""

import ast
import os
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

from tests.quantize.peers.stand_in import load


def start() -> tuple[ModuleType, ModuleType]:
    """triton and triton.language, to be interpreted, with bfloat16 widened to float32 by its bits.

    The interpreter's own conversion gives other numbers for bfloat16's subnormals.
    """
    # Read when triton is first imported.
    os.environ["TRITON_INTERPRET"] = "1"
    import triton
    from triton import language
    from triton.runtime import interpreter

    convert = interpreter._convert_float

    def widened(values: Any, source: Any, target: Any, rounding: Any) -> Any:
        if (source, target) == (language.bfloat16, language.float32):
            return values.view(numpy.uint16).astype(numpy.uint32) << 16
        return convert(values, source, target, rounding)

    interpreter._convert_float = widened
    return triton, language


class _Elementwise(ast.NodeTransformer):
    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return ast.Compare(left=node.operand, ops=[ast.Eq()], comparators=[ast.Constant(0)])
        return node


def load_kernels(path: Path) -> ModuleType:
    """Run a file of kernels with each `not x` read as `x == 0`, which is what it compiles to.

    Interpreted, it would be Python's own, which asks for the truth of a whole block.
    """
    tree = _Elementwise().visit(ast.parse(path.read_text()))
    # Interpreted functions are read from their file.
    copy = Path(tempfile.mkdtemp()) / f"{path.stem}_kernels.py"
    copy.write_text(ast.unparse(ast.fix_missing_locations(tree)))
    return load(copy)
