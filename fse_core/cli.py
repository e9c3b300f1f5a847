"""`fse`: the command line. It turns options into a Target and errors into exit codes, and knows nothing else."""

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fse_core.errors import FseError, InputError
from fse_core.output import Style, find, names
from fse_core.report import Report
from fse_core.target import Target

OK: Final = 0
BAD: Final = 1
USAGE: Final = 2
NO_ANSWER: Final = 3
BUG: Final = 70
INTERRUPTED: Final = 130

_SEVERITIES: Final = ("info", "warning", "error", "never")
_LARGEST_FILE: Final = 9 * 1024 * 1024
_GFX: Final = re.compile(r"gfx[0-9a-f]{3,4}")
_EPILOG: Final = """\
SOURCE is a config.json (that file alone), a folder (with its hf_quant_config.json), a model on the Hub as
org/name or org/name@revision, or - for standard input.

exit status: 0 nothing wrong; 1 the model fails to start or breaks, or a finding at or above --fail-on;
2 wrong command line; 3 undecided, or the source could not be had or read; 70 a bug in fse.
"""


def run() -> None:
    """The console script."""
    sys.exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit status. A wrong command line raises SystemExit(2), as argparse does."""
    try:
        return _command(argv)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if os.environ.get("FSE_DEBUG") == "1":
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())
        _complain(f"this is a bug in fse, please report it with the source you checked: {what} (FSE_DEBUG=1 says more)")
        return BUG


def _command(argv: Sequence[str] | None) -> int:
    parser = _parser()
    args = parser.parse_args(argv)
    if args.version:
        _write(_version())
        return OK
    if args.command is None:
        parser.error("expected a command, such as: fse check SOURCE")
    try:
        target, token = _target(args), _token(args.token_file)
    except InputError as error:
        parser.error(str(error))
    return _check(args, target, token)


def _check(args: argparse.Namespace, target: Target, token: str | None) -> int:
    # Only now: neither --help nor a wrong command line should wait for the engine to load.
    from fse_core.check import check
    from fse_core.read.source import read_model

    if args.offline:
        os.environ["HF_HUB_OFFLINE"] = "1"  # the Hub's client reads it when it is imported, which is later
    reports: list[Report] = []
    status = OK
    for source in args.sources:
        try:
            report = check(read_model(source, token=token), target)
        except FseError as error:
            named = source in str(error) or str(error).startswith("SOURCE")
            _complain(str(error) if named else f"{source}: {error}")
            status = max(status, NO_ANSWER)
        else:
            reports.append(report)
            status = max(status, _status(report, args.fail_on))
    if not reports:
        return status
    return _write(find(args.format).render(reports, _style(args.color))) or status


def _status(report: Report, fail_on: str) -> int:
    if report.verdict == "undecided":
        return NO_ANSWER
    least = _SEVERITIES.index(fail_on)
    found = any(_SEVERITIES.index(finding.severity) >= least for finding in report.findings)
    return BAD if found or report.verdict in ("fails", "breaks") else OK


def _target(args: argparse.Namespace) -> Target:
    from fse_core.releases import load

    release = load(args.vllm)
    target = Target(
        vllm=release.version,
        gfx=args.gfx,
        tp=args.tp,
        ep=args.ep,
        dp=args.dp,
        pcp=args.pcp,
        pp=args.pp,
        moe_backend=args.moe_backend,
        all2all_backend=args.all2all_backend,
        eplb=args.eplb,
        dbo=args.dbo,
        plugin=args.plugin,
        environment=dict(args.env),
        overlay=_overlay(args.quantization_config),
        draft=args.draft,
    )
    release.require(target)
    return target


def _overlay(option: str | None) -> Mapping[str, Any] | None:
    """What --quantization-config holds: JSON, or the file that `@` names."""
    if option is None:
        return None
    from fse_core.read.document import parse_object

    name = "--quantization-config"
    data = _file(name, option[1:]) if option.startswith("@") else option.encode("utf-8", "surrogateescape")
    return parse_object(data, name)


def _token(path: str | None) -> str | None:
    if path is None:
        return None
    token = _file("--token-file", path).decode("utf-8", "replace").strip()
    if not token:
        raise InputError("--token-file", f"{path} is empty")
    return token


def _file(option: str, path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_LARGEST_FILE)
    except (OSError, ValueError) as error:
        raise InputError(option, f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def _size(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:10]) <= 65536:
        raise argparse.ArgumentTypeError(f"expected a number of GPUs from 1 to 65536, got {text!r}")
    return int(text)


def _gfx(text: str) -> str:
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fse",
        description="Tells which MoE layers a vLLM release on ROCm fuses with their shared experts, and why not.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="the version of fse and the vLLM releases it knows")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    check = commands.add_parser(
        "check",
        help="check a model's config",
        description="Checks what a vLLM release will do with every MoE layer of a model, from its config.json alone.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    check.add_argument("sources", nargs="+", metavar="SOURCE", help="file, folder, org/name[@revision] or -")
    _add_target(check.add_argument_group("how the model is served"))
    _add_reading(check.add_argument_group("reading"))
    _add_output(check.add_argument_group("output"))
    return parser


def _add_target(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--vllm", default="latest", metavar="VERSION", help="vLLM release (default: the latest known)")
    group.add_argument("--gfx", type=_gfx, default="gfx942", help="GPU architecture (default: gfx942)")
    for name, what in (
        ("tp", "tensor parallel"),
        ("dp", "data parallel"),
        ("pcp", "prefill context parallel"),
        ("pp", "pipeline parallel"),
    ):
        group.add_argument(f"--{name}", type=_size, default=1, metavar="N", help=f"{what} size (default: 1)")
    group.add_argument("--ep", action="store_true", help="expert parallelism")
    group.add_argument("--moe-backend", type=_backend, default="auto", metavar="NAME", help="(default: auto)")
    group.add_argument("--all2all-backend", metavar="NAME", help="(default: as vLLM chooses)")
    group.add_argument("--eplb", action="store_true", help="expert load balancing")
    group.add_argument("--dbo", action="store_true", help="dual batch overlap")
    group.add_argument("--plugin", action="store_true", help="with the fse plugin loaded into vLLM")
    group.add_argument("--env", type=_variable, action="append", default=[], metavar="KEY=VALUE", help="a variable")
    group.add_argument("--quantization-config", metavar="JSON", help="the option of that name, or @FILE")
    group.add_argument("--no-draft", dest="draft", action="store_false", help="without the draft (MTP) layers")


def _add_reading(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--token-file", metavar="FILE", help="a file that holds a Hub token")
    group.add_argument("--offline", action="store_true", help="take Hub files from the local cache alone")


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--format", choices=names(), default="table", help="(default: table)")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="(default: auto)")
    group.add_argument(
        "--fail-on",
        choices=("error", "warning", "info", "never"),
        default="error",
        help="the least severe finding that makes the exit status 1 (default: error)",
    )


def _version() -> str:
    from fse_core import __version__
    from fse_core.releases import known

    return f"fse {__version__} (vLLM {known()[0]} to {known()[-1]})\n"


def _style(color: str) -> Style:
    terminal = sys.stdout is not None and sys.stdout.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    colored = color == "always" or (color == "auto" and terminal and not plain)
    return Style(width=_width() if terminal else None, color=colored)


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except OSError:
        return 80


def _write(text: str) -> int:
    """Writes to standard output. A reader that has gone away is no error; a full disk is one."""
    if sys.stdout is None:
        return OK
    try:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # What is still in the buffer would be written, and complained about, once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            _complain(f"cannot write the report: {error.strerror}")
            return NO_ANSWER
    return OK


def _complain(message: str) -> None:
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(f"fse: {message}".encode("utf-8", "backslashreplace").decode(), file=sys.stderr, flush=True)
