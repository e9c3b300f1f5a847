"""Reads what Python shows of a dict of options: plain values, and objects as `Name(field=value)`."""

import ast
import re
from typing import Any, Final

_OPAQUE: Final = re.compile(r"<[A-Za-z_][^<>'\"]*>")
_EMPTY: Final[tuple[Any, ...]] = (None, [], {}, ())


def read(text: str) -> dict[str, Any] | None:
    """The dict, with objects as dicts of the fields that hold something; None where the text is no whole dict.

    What only says what it is (`<Mode.NONE: 0>`) becomes None.
    """
    try:
        found = _value(ast.parse(_OPAQUE.sub("None", text.strip()), mode="eval").body)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return {str(name): value for name, value in found.items()} if isinstance(found, dict) else None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Dict(keys=keys, values=values):
            return {_value(key): _value(value) for key, value in zip(keys, values, strict=True) if key is not None}
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_value(item) for item in items]
        case ast.Call(keywords=keywords):
            fields = {word.arg: _value(word.value) for word in keywords if word.arg is not None}
            return {name: value for name, value in fields.items() if value not in _EMPTY}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Name() | ast.Attribute():
            return None
    raise ValueError(type(node).__name__)
