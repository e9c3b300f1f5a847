"""`fse doctor`: whether fusion will happen here, or with a launch command, and whether a log says that it did."""

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from fse_core.cli import options
from fse_core.cli.commands import Command
from fse_core.cli.console import complain, style, write
from fse_core.cli.statuses import BAD, NO_ANSWER, OK
from fse_core.cli.usage import Usage, checked
from fse_core.errors import InputError
from fse_core.output import find

if TYPE_CHECKING:
    from fse_core.doctor.command import Command as Launch
    from fse_core.doctor.log.tally import Tally
    from fse_core.doctor.result import Diagnosis, LogReport
    from fse_core.read.model import Model

_LARGEST: Final = 1 << 20
_EPILOG: Final = """\
WORDS are a model (as SOURCE of fse check), or, best after --, the command that serves it, in one word or many:

  fse doctor amd/DeepSeek-R1-MXFP4 --tp 8
  fse doctor -- vllm serve amd/DeepSeek-R1-MXFP4 -tp 8
  fse doctor 'docker run -e VLLM_ROCM_USE_AITER=1 ... vllm/vllm-openai-rocm:v0.31.0 amd/DeepSeek-R1-MXFP4 -tp 8'
  fse doctor --script launch.sh
  fse doctor --log vllm.log.gz

Without any of them it looks at this machine alone. Variables are those of this process and of the command.

exit status: 0 nothing wrong; 1 the model fails to start or breaks, an error is found, or the log is not as predicted;
2 wrong command line; 3 undecided, or something could not be had or read; 70 a bug in fse.
"""


class _Once(argparse.Action):
    """An option of which one is looked at: the last would be, without a word."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{option_string} is given more than once: ask about one at a time")
        setattr(namespace, self.dest, values)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORDS", help="a model, or the command that serves it")
    for name, metavar, what in (
        ("--script", "FILE", "a file that holds the command, or - for standard input"),
        ("--log", "FILE", "a log of vLLM's, or - for standard input; gzip is understood"),
        ("--source", "SOURCE", "where the model's config is, if not where the command says"),
    ):
        parser.add_argument(name, action=_Once, metavar=metavar, help=what)
    served = parser.add_argument_group("how a model that is no command's is served")
    options.add_vllm(served)
    options.add_gfx(served, default=argparse.SUPPRESS)
    options.add_target(served)
    options.add_reading(parser.add_argument_group("reading"))
    options.add_output(parser.add_argument_group("output"), "doctor")


def _run(args: argparse.Namespace) -> int:
    from fse_core.doctor.examine import Question, examine
    from fse_core.doctor.machine import look

    with checked():
        launch = _launch(args)
        given = options.given(args)
    variables = given.pop("environment", {})
    told = {name: value for name, value in given.items() if name != "plugin"}  # which no command tells
    if launch is not None and told:
        raise Usage(f"a command says itself how it serves: leave out {_names(told)}")
    try:
        tally = _tally(args.log)
    except InputError as error:
        complain(str(error))
        return NO_ANSWER
    removed = launch.removed if launch is not None else ()
    environment = {name: value for name, value in os.environ.items() if name not in removed}
    question = Question(
        machine=look({**environment, **(launch.variables if launch else {}), **variables}),
        read=_reader(args),
        environment=os.environ,
        given=variables,
        vllm=getattr(args, "vllm", None),
        gfx=getattr(args, "gfx", None),
        source=args.source or (args.words[0] if args.words and launch is None else None),
        target=given,
    )
    with checked():
        found = examine(question, launch, tally, args.log or "")
    return write(find(args.format, "doctor").render([found], style(args.color))) or _status(found)


def _names(given: "dict[str, object]") -> str:
    return ", ".join(f"--{name.replace('_', '-')}" for name in given)


def _launch(args: argparse.Namespace) -> "Launch | None":
    """The launch command, where there is one."""
    from fse_core.doctor import command

    if args.script == "-" and args.log == "-":
        raise Usage("--script and --log cannot both be read from standard input")
    if args.script is not None:
        if args.words:
            raise Usage("--script takes no WORDS beside it")
        return command.from_text(_text(args.script), os.environ)
    if not args.words or not command.is_command(args.words):
        return None
    return (
        command.from_text(args.words[0], os.environ)
        if len(args.words) == 1
        else command.from_words(args.words, os.environ)
    )


def _text(file: str) -> str:
    from fse_core.doctor.log.files import opened

    with opened(file, "--script") as readable:
        buffer = bytearray(_LARGEST)
        size = 0
        while size < _LARGEST and (count := readable.readinto(memoryview(buffer)[size:]) or 0):
            size += count
    return buffer[:size].decode("utf-8", "replace")


def _tally(file: str | None) -> "Tally | None":
    if file is None:
        return None
    from fse_core.doctor.log.files import opened
    from fse_core.doctor.log.tally import Tally

    tally = Tally()
    with opened(file, "--log") as readable:
        tally.read(readable)
    return tally


def _reader(args: argparse.Namespace) -> Callable[[str], "Model"]:
    with checked():
        secret = options.token(args.token_file)
    if args.offline:
        os.environ["HF_HUB_OFFLINE"] = "1"  # the Hub's client reads it when it is imported, which is later

    def read(name: str) -> "Model":
        from fse_core.read.source import read_model

        return read_model(name, token=secret)

    return read


def _status(found: "Diagnosis") -> int:
    """As that of `fse check`, and 1 for a command that is wrong or a log that is not as predicted."""
    problems = (*found.problems, *(found.launch.problems if found.launch is not None else ()))
    if any(problem.severity == "error" for problem in problems):
        return BAD
    report = found.report
    if report is not None and report.verdict != "undecided":
        if report.verdict in ("fails", "breaks") or any(one.severity == "error" for one in report.findings):
            return BAD
        return OK if found.log is None else _of_log(found.log)
    if found.log is not None:
        return _of_log(found.log)
    return NO_ANSWER if report is not None or found.unread is not None else OK


def _of_log(log: "LogReport") -> int:
    if log.fused == "failed" or log.match == "differs":
        return BAD
    return NO_ANSWER if log.match == "unknown" else OK


COMMAND = Command(
    help="whether fusion will happen here, and whether it did",
    description="Looks at a container, a launch command and a log: will the shared experts be fused, and were they?",
    epilog=_EPILOG,
    add_options=_add_options,
    run=_run,
)
