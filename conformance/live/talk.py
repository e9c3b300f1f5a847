"""Lets the release say what it says: builds one case rank after rank and leaves the release's log alone.

usage: python -m conformance.live.talk QUESTION.json     (in a folder that holds the model under the name it has there,
and where built.json is written)
What is printed is the release's: its lines, levels, process prefixes and tracebacks. Ours are the order of the ranks,
one after the other, and the words before a traceback, which the release's executor would print.
"""

import importlib
import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from conformance.live import build, ranks, server
from conformance.live.watch import Watch

STARTUP = ("vllm.entrypoints.common.startup", "vllm.entrypoints.serve.utils.api_utils")
"""Where the releases keep what an API server says first."""


class Listening(Watch):
    """Notes nothing of the log, and lets it be printed."""

    def take_log(self) -> None:
        """Nothing."""


class Talk(build.Attempt):
    """One rank's build, from the model's folder. What ends it is printed as the release's executor prints it."""

    def __init__(self, question: Mapping[str, Any], rank: int) -> None:
        super().__init__({"name": "", "config": {}, **question}, 0)
        self.watch = Listening()
        self.folder: str = question["model"]
        self.rank = rank

    def run(self) -> None:
        """As `Attempt.run`, in a folder that is there already."""
        build.use_environment(self.target.get("environment") or {})
        self.watch.install()
        config = self.configure(self.folder)
        self.prepare(config)
        ranks.stand_at(self.rank)
        self.build_target(config)

    def configure(self, folder: str) -> Any:
        """The engine config; a draft that the release has no use for is an error."""
        return build.engine_config(folder, self.target, draft=self.target.get("draft", False))


def built(talk: Talk, file: Path) -> None:
    """Builds, and leaves behind how many of the layers' expert modules have slots, and how many have none."""
    try:
        talk.run()
    finally:
        slots = [row["slots"] for row in talk.watch.experts + talk.others]
        file.write_text(json.dumps({"fused": sum(map(bool, slots)), "separate": slots.count(0)}))


def greet(question: Mapping[str, Any]) -> None:
    """The lines of an API server before it starts its engine."""
    from vllm import logger
    from vllm.engine.arg_utils import EngineArgs
    from vllm.version import __version__

    startup: Any = _first_importable(STARTUP)
    target = question.get("target") or {}
    options = {name: target[key] for key, name in build.OPTIONS.items() if target.get(key) is not None}
    if target.get("draft"):
        options["speculative_config"] = dict(build.DRAFT)
    arguments = EngineArgs(model=question["model"], **options)
    if hasattr(logger, "configure_logging"):  # else the log was set up when vllm was imported
        from vllm.config.logging import LoggingConfig

        logger.configure_logging(LoggingConfig())
    own = logger.init_logger("vllm.entrypoints.openai.api_server")
    startup.log_version_and_model(own, __version__, question["model"])
    startup.log_non_default_args(arguments)


def _first_importable(names: tuple[str, ...]) -> Any:
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise ImportError(f"none of {', '.join(names)}")


def speak_as(name: str) -> None:
    """Let the release name this process in each of its lines."""
    from vllm.utils import system_utils

    system_utils.decorate_logs(name)


def in_child(name: str, talk: Callable[[], None]) -> bool:
    """Run in a process of its own, named as the release names it. Whether it ended well."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    status = 1
    try:
        speak_as(name)
        talk()
        status = 0
    except BaseException:
        logging.getLogger("vllm.v1.executor.multiproc_executor").exception("WorkerProc failed to start.")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    """Say everything once, the server first and then each rank."""
    question = json.loads(Path(sys.argv[1]).read_text())
    os.environ["VLLM_LOGGING_LEVEL"] = "INFO"
    if question.get("color"):
        os.environ["VLLM_LOGGING_COLOR"] = "1"
    server.import_release()
    tempfile.tempdir = os.environ.get("TMPDIR")
    target = question.get("target") or {}
    ended_well = in_child("APIServer", lambda: greet(question))
    count = question.get("ranks", target.get("tp", 1))
    for rank in range(count):
        name = f"Worker_TP{rank}_EP{rank}" if target.get("ep") else f"Worker_TP{rank}"
        several = target.get("tp", 1) > 1
        build_it = partial(built, Talk(question, rank), Path("built.json"))
        ended_well = in_child(name if several else "EngineCore", build_it) and ended_well
    sys.exit(0 if ended_well else 1)


if __name__ == "__main__":
    main()
