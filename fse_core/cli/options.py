"""The options that commands share, and what they stand for."""

import argparse
import re
from collections.abc import Mapping
from typing import Any, Final

from fse_core.errors import InputError
from fse_core.output import names
from fse_core.target import Target

SOURCES: Final = """\
SOURCE is a config.json (that file alone), a folder (with its hf_quant_config.json), a model on the Hub as
org/name or org/name@revision, or - for standard input.
"""
_LARGEST_FILE: Final = 9 * 1024 * 1024
_FIELDS: Final = (
    "tp", "dp", "pcp", "pp", "ep", "moe_backend", "all2all_backend", "eplb", "dbo", "plugin", "draft",
)  # fmt: skip
_GFX: Final = re.compile(r"gfx[0-9a-f]{3,4}")


def add_target(group: argparse._ArgumentGroup) -> None:
    """How the model is served, without the release and the GPU, which commands ask for in ways of their own.

    An option that is not given leaves no trace, so that it can be told from one that is given its default.
    """
    before = len(group._group_actions)
    for name, what in (
        ("tp", "tensor parallel"),
        ("dp", "data parallel"),
        ("pcp", "prefill context parallel"),
        ("pp", "pipeline parallel"),
    ):
        group.add_argument(f"--{name}", type=size, metavar="N", help=f"{what} size (default: 1)")
    group.add_argument("--ep", action="store_true", help="expert parallelism")
    group.add_argument("--moe-backend", type=_backend, metavar="NAME", help="(default: auto)")
    group.add_argument("--all2all-backend", metavar="NAME", help="(default: as vLLM chooses)")
    group.add_argument("--eplb", action="store_true", help="expert load balancing")
    group.add_argument("--dbo", action="store_true", help="dual batch overlap")
    group.add_argument("--plugin", action="store_true", help="with the fse plugin loaded into vLLM")
    group.add_argument("--env", type=_variable, action="append", metavar="KEY=VALUE", help="a variable")
    group.add_argument("--quantization-config", metavar="JSON", help="the option of that name, or @FILE")
    group.add_argument("--no-draft", dest="draft", action="store_false", help="without the draft (MTP) layers")
    for action in group._group_actions[before:]:
        action.default = argparse.SUPPRESS


def add_gfx(group: argparse._ArgumentGroup, default: str = "gfx942") -> None:
    """One GPU architecture."""
    group.add_argument("--gfx", type=gfx, default=default, help="GPU architecture (default: gfx942)")


def add_vllm(group: argparse._ArgumentGroup) -> None:
    """One release, which leaves no trace where it is not given."""
    what = "vLLM release (default: the latest known)"
    group.add_argument("--vllm", default=argparse.SUPPRESS, metavar="VERSION", help=what)


def add_reading(group: argparse._ArgumentGroup) -> None:
    """How a source on the Hub is read."""
    group.add_argument("--token-file", metavar="FILE", help="a file that holds a Hub token")
    group.add_argument("--offline", action="store_true", help="take Hub files from the local cache alone")


def add_output(group: argparse._ArgumentGroup, what: str, default: str = "table") -> None:
    """How `what` is written: one of the rooms of `fse_core.output`."""
    group.add_argument("-f", "--format", choices=names(what), default=default, help=f"(default: {default})")
    add_color(group)


def add_color(group: argparse._ArgumentGroup) -> None:
    """Whether there are colours."""
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="(default: auto)")


def target(args: argparse.Namespace, **more: Any) -> Target:
    """The target that the options describe. InputError where one of them is wrong."""
    return Target(**given(args), **more)


def given(args: argparse.Namespace, *more: str) -> dict[str, Any]:
    """The fields of a Target whose options are given, and of `more`. InputError where one of them is wrong."""
    found = {name: getattr(args, name) for name in (*_FIELDS, *more) if hasattr(args, name)}
    if hasattr(args, "env"):
        found["environment"] = dict(args.env)
    if hasattr(args, "quantization_config"):
        found["overlay"] = _overlay(args.quantization_config)
    return found


def require(target: Target) -> None:
    """InputError where the target's release is unknown, or does not take one of its options."""
    from fse_core.releases import load

    load(target.vllm).require(target)


def _overlay(option: str) -> Mapping[str, Any]:
    """What --quantization-config holds: JSON, or the file that `@` names."""
    from fse_core.read.document import parse_object

    name = "--quantization-config"
    data = _file(name, option[1:]) if option.startswith("@") else option.encode("utf-8", "surrogateescape")
    return parse_object(data, name)


def token(path: str | None) -> str | None:
    """What --token-file holds. InputError where it cannot be read, or holds nothing."""
    if path is None:
        return None
    text = _file("--token-file", path).decode("utf-8", "replace").strip()
    if not text:
        raise InputError("--token-file", f"{path} is empty")
    return text


def _file(option: str, path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_LARGEST_FILE)
    except (OSError, ValueError) as error:
        raise InputError(option, f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def size(text: str) -> int:
    """A number of GPUs."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:10]) <= 65536:
        short = text if len(text) <= 40 else f"{text[:40]}..."
        raise argparse.ArgumentTypeError(f"expected a number of GPUs from 1 to 65536, got {short!r}")
    return int(text)


def gfx(text: str) -> str:
    """An AMD GPU architecture."""
    if not _GFX.fullmatch(text):
        raise argparse.ArgumentTypeError(f"expected an AMD GPU architecture such as gfx942, got {text!r}")
    return text


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, got {text!r}")
    return name, value


def _backend(text: str) -> str:
    # vLLM reads a backend's name without regard to case, and a dash as an underscore (config/kernel.py at 0.33.0).
    return text.lower().replace("-", "_")
