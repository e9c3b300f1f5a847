"""Recognises a release by the text of the functions on which our answers rest, whatever its version says."""

import ast
import hashlib
import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping

_LARGEST = 4 * 1024 * 1024
_DIGITS = 16


def fingerprints(package: str, names: Iterable[str]) -> dict[str, str]:
    """The hash of each of the functions `file:name` in `package`, the folder of an installed vLLM.

    One that is not there is left out. The code is parsed, never run. OSError where a file cannot be read.
    """
    wanted: dict[str, set[str]] = {}
    for name in names:
        file, _, function = name.partition(":")
        wanted.setdefault(file, set()).add(function)
    return {
        f"{file}:{function}": found
        for file, functions in wanted.items()
        for function, found in _in_file(os.path.join(package, file), functions)
    }


def _in_file(path: str, functions: set[str]) -> Iterator[tuple[str, str]]:
    if not os.path.isfile(path):
        return
    with open(path, "rb") as file:
        text = file.read(_LARGEST).decode("utf-8", "replace")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for name, node in _functions(tree.body):
        if name in functions:
            yield name, _hash(ast.get_source_segment(text, node) or "")


def _functions(body: Iterable[ast.stmt], owner: str = "") -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield owner + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{owner}{node.name}.")


def _hash(source: str) -> str:
    """Indentation, trailing blanks and empty lines do not count; comments do."""
    lines = (line.rstrip() for line in textwrap.dedent(source).splitlines())
    return hashlib.sha256("\n".join(line for line in lines if line).encode()).hexdigest()[:_DIGITS]


def differing(package: str, expected: Mapping[str, str]) -> tuple[str, ...]:
    """The functions of `expected` that are absent from `package` or read otherwise there."""
    found = fingerprints(package, expected)
    return tuple(name for name, digest in expected.items() if found.get(name) != digest)
