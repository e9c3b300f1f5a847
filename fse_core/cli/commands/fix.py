"""`fse fix`: what to change, as a command to launch or a config to use, checked again."""

import argparse
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from fse_core.cli import options
from fse_core.cli.commands import Command
from fse_core.cli.console import complain, write
from fse_core.cli.sources import answers
from fse_core.cli.statuses import BAD, NO_ANSWER, OK
from fse_core.cli.usage import Usage, checked
from fse_core.target import Target

if TYPE_CHECKING:
    from fse_core.read.model import Model
    from fse_core.repair import Repair, State

_SAFETIES: Final = ("changes-numerics", "needs-evaluation")
_EPILOG: Final = f"""\
{options.SOURCES}
What is printed is a shell script: comments that say what was found, and the command that serves the model where it is
to be served otherwise. A patched config.json is written beside the old one as config.fse.json, or to --output; the old
one is never written to. Nothing is proposed that was not checked again and found to be better.

exit status: 0 nothing to fix, or it is better now; 1 no fix that may be used makes it better; 2 wrong command line;
3 undecided, or the source could not be had or read, or the file not be written; 70 a bug in fse.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help="file, folder, org/name[@revision] or -")
    served = parser.add_argument_group("how the model is served")
    options.add_vllm(served)
    options.add_gfx(served, default=argparse.SUPPRESS)
    options.add_target(served)
    options.add_reading(parser.add_argument_group("reading"))
    fixes = parser.add_argument_group("fixes")
    fixes.add_argument(
        "--allow",
        action="append",
        choices=_SAFETIES,
        default=[],
        help="fixes that do this, besides the lossless ones; may be repeated",
    )
    fixes.add_argument("--by", choices=("config", "launch"), help="change the config, or the launch, alone")
    fixes.add_argument("--diff", action="store_true", help="show what changes in the config, and write nothing")
    fixes.add_argument("-o", "--output", metavar="FILE", help="where the patched config goes")


def _run(args: argparse.Namespace) -> int:
    with checked():
        target = Target(**options.given(args, "vllm", "gfx"))
        options.require(target)
    found = answers(args, [args.source], lambda model: _repair(model, target, args))
    return _tell(found[0], args) if found else NO_ANSWER


def _repair(model: "Model", target: Target, args: argparse.Namespace) -> "Repair":
    from fse_core.repair import CONFIG, LAUNCH, repair  # only now: a wrong command line should not wait for the engine

    _file(model, args)
    kinds = {"launch": LAUNCH, "config": CONFIG}.get(args.by, (*LAUNCH, *CONFIG))
    if not (args.diff or args.output or model.source.kind == "path"):
        kinds = tuple(kind for kind in kinds if kind not in CONFIG)  # there would be no place for it
    return repair(model, target, frozenset(("lossless", *args.allow)), frozenset(kinds))


def _tell(repair: "Repair", args: argparse.Namespace) -> int:
    before, after = repair.before, repair.after
    if before.report.verdict == "undecided":
        complain(f"undecided: {before.report.undecided_reason}")
        return NO_ANSWER
    if after is None:
        return _none(repair)
    lines = [f"# {fix.summary} ({fix.safety})" for fix in after.applied]
    lines += [f"# before: {_verdict(before)}", f"# after: {_verdict(after)}"]
    lines += [f"# still: {one.severity} {one.rule} {one.name}: {one.message}" for one in after.report.findings]
    from fse_core.output.words.text import printable

    status, script = OK, "".join(f"{printable(line)}\n" for line in lines)
    if after.changes("config_patch"):
        told, status = _config(before, after, args)
        script += told
    if after.changes("env", "flag", "quantization_config"):
        from fse_core.launch import command

        script += command(after.model.source, after.report.target) + "\n"
    return write(script) or status


def _none(repair: "Repair") -> int:
    """Says why nothing is proposed."""
    report = repair.before.report
    wrong = report.verdict in ("fails", "breaks") or any(finding.severity == "error" for finding in report.findings)
    if not wrong and not repair.tried:
        return write(f"# nothing to fix: {_verdict(repair.before)}\n")
    for fix in repair.tried:
        complain(f"does not make it better: {fix.summary}")
    for fix in repair.untried:
        complain(f"not tried ({fix.safety}, {fix.kind}): {fix.summary}")
    complain(f"no fix that may be used makes it better: {_verdict(repair.before)}")
    return BAD


def _verdict(state: "State") -> str:
    from fse_core.output.words.summary import summary

    return summary(state.report)[0]


def _config(before: "State", after: "State", args: argparse.Namespace) -> tuple[str, int]:
    """What is to be told of the patched config, and the status."""
    old, new = before.model.documents[0], after.model.documents[0]
    file = _file(before.model, args)
    if args.diff:
        shown = file if file is not None else "config.fse.json"
        return "".join(_diff(old.data.decode("utf-8"), new.data.decode("utf-8"), old.file, shown)), OK
    assert file is not None
    try:
        with open(file, "wb") as opened:
            opened.write(new.data)
    except (OSError, ValueError) as error:
        complain(f"cannot write {file}: {getattr(error, 'strerror', None) or error}")
        return "", NO_ANSWER
    return f"# written: {file}; put it in the place of {old.file}\n", OK


def _diff(old: str, new: str, name: str, new_name: str) -> Iterator[str]:
    import difflib

    for line in difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, new_name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _file(model: "Model", args: argparse.Namespace) -> str | None:
    """Where the patched config goes. Usage where that is the old one."""
    old = model.documents[0].file if model.documents else None
    if args.output is not None:
        if old is not None and model.source.kind == "path" and _same(old, args.output):
            raise Usage(f"--output {args.output}: is the config itself, which is never written to")
        return str(args.output)
    if old is None or model.source.kind != "path":
        return None
    return os.path.splitext(old)[0] + ".fse.json"


def _same(file: str, other: str) -> bool:
    try:
        return os.path.samefile(file, other)
    except OSError:
        return os.path.abspath(file) == os.path.abspath(other)


COMMAND = Command(
    help="what to change, checked again",
    description="Tries what the findings propose, and prints or writes what makes the model fare better.",
    epilog=_EPILOG,
    add_options=_add_options,
    run=_run,
)
