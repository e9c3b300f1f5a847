"""Prints the options of `vllm serve` as the release's own parser holds them, or what it makes of words; one JSON list.

usage: python -m conformance.live.parser [FILE]     (FILE holds a JSON list of lists of words)
"""

import importlib
import json
import os
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import absent

from conformance.live import rocm

PLACES = (
    "vllm.entrypoints.common.cli_args",
    "vllm.entrypoints.launchers.cli_args",
    "vllm.entrypoints.openai.cli_args",
)
"""Where the releases keep the function that makes the parser, the newest first."""
KINDS = {"None": "value", "+": "many", "*": "any", "?": "optional"}
NOT_ASKED = frozenset(
    (
        "anthropic", "diskcache", "fastapi", "gguf", "grpc", "h11", "httptools", "ijson", "jmespath", "lark",
        "lmformatenforcer", "mcp", "mistral_common", "model_hosting_container_standards", "openai", "openai_harmony",
        "outlines_core", "partial_json_parser", "prometheus_client", "prometheus_fastapi_instrumentator", "pybase64",
        "setproctitle", "sse_starlette", "starlette", "uvicorn", "uvloop", "watchfiles", "xgrammar", "zmq",
    )
)  # fmt: skip
"""What a server imports and its parser does not use; it gets a mock where it is not installed."""


class Unneeded(absent.SubmoduleFinder):
    """Finds what nothing else finds, as mocks."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """A spec for those of NOT_ASKED, and what is below them."""
        known = name.partition(".")[0] in NOT_ASKED
        return ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A mock with a version."""
        module: ModuleType = super().create_module(spec)
        vars(module)["__version__"] = "0"
        return module


def parser() -> Any:
    """The release's parser for `vllm serve`."""
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    for place in PLACES:
        try:
            module = importlib.import_module(place)
        except ModuleNotFoundError as error:
            if error.name is None or not place.startswith(error.name):
                raise
            continue
        return module.make_arg_parser(FlexibleArgumentParser(prog="vllm serve"))
    raise ImportError(f"no parser in {', '.join(PLACES)}")


def option(action: Any) -> dict[str, Any]:
    """A row: all names of an option, what it is called inside, and how many words it takes."""
    kind = type(action).__name__
    if "Append" in kind:
        takes = "append"
    elif kind == "_StoreTrueAction":
        takes = "on"
    elif action.nargs == 0:
        takes = "switch"
    else:
        takes = KINDS[str(action.nargs)]
    return {"options": list(action.option_strings), "dest": action.dest, "kind": takes}


def parsed(made: Any, words: list[str]) -> dict[str, Any]:
    """What the release makes of a command line: the values that are not the default, or that it ends there."""
    defaults = vars(made.parse_args([]))
    try:
        given = vars(made.parse_args(words))
    except (SystemExit, ValueError) as error:
        return {"error": type(error).__name__}
    return {"given": {name: _plain(value) for name, value in given.items() if value != defaults.get(name)}}


def _plain(value: Any) -> Any:
    """Itself, where JSON has it, else as text."""
    try:
        return json.loads(json.dumps(value))
    except TypeError:
        return str(value)


def main() -> None:
    """Print what is asked for."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the release prints to stdout, where only the answer belongs
    sys.meta_path.append(Unneeded(""))
    rocm.pretend()
    made = parser()
    if sys.argv[1:]:
        rows = [parsed(made, words) for words in json.loads(Path(sys.argv[1]).read_text())]
    else:
        rows = [option(action) for action in made._actions if action.dest != "help"]
    print(json.dumps(rows), file=answers, flush=True)


if __name__ == "__main__":
    main()
