"""Our side of the live releases: starts a server for each release and GPU architecture when it is first asked for.

usage: python -m conformance.live.ask [--jobs 2] CASE.json...     (one Case, or a list of them, in each file)
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from conformance.case import Case, read_cases
from conformance.home import PACKAGE, Home, default_home
from fse_core import releases
from fse_core.target import REQUESTED_ENVIRONMENT

LIMIT = 120.0
QUIET = {
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
}
Answer = dict[str, Any]


Kind = tuple[str, str]
"""A server's release and GPU architecture."""


class Live:
    """The releases, ready to be asked. Use it as a context manager."""

    def __init__(self, *, jobs: int = 2, verbose: bool = False) -> None:
        self.jobs = jobs
        self.verbose = verbose
        self.servers: dict[Kind, subprocess.Popen[str]] = {}
        self.numbers = itertools.count()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        for server in self.servers.values():
            if server.stdin:
                server.stdin.close()
            server.wait()

    def ask(self, case: Case) -> Answer:
        return next(iter(self.ask_all([case])))[1]

    def ask_all(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Answer]]:
        """The answers, grouped by release and GPU architecture, each group in the order of completion."""
        groups: dict[Kind, list[Case]] = {}
        for case in cases:
            groups.setdefault((releases.resolve(case.target.vllm), case.target.gfx), []).append(case)
        for kind, members in groups.items():
            yield from self._ask_group(self._server(kind), members)

    def _ask_group(self, server: subprocess.Popen[str], cases: list[Case]) -> Iterator[tuple[Case, Answer]]:
        """Keeps the server busy, and no more: who stops listening leaves only a few questions behind."""
        questions = [(case, stage) for case in cases for stage in range(case.target.pp)]
        parts: dict[int, dict[int, Answer]] = {id(case): {} for case in cases}
        waiting: dict[int, tuple[Case, int]] = {}
        while questions or waiting:
            while questions and len(waiting) < 2 * self.jobs:
                case, stage = questions.pop(0)
                number = next(self.numbers)
                waiting[number] = case, stage
                self._send(server, {"id": number, "case": case.as_dict(), "stage": stage, "limit": LIMIT})
            number, answer = self._receive(server)
            if number not in waiting:
                continue  # an answer that nobody stayed for
            case, stage = waiting.pop(number)
            parts[id(case)][stage] = answer
            if len(parts[id(case)]) == case.target.pp:
                yield case, merged([part for _, part in sorted(parts[id(case)].items())])

    def _send(self, server: subprocess.Popen[str], request: Mapping[str, Any]) -> None:
        assert server.stdin is not None
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()

    def _receive(self, server: subprocess.Popen[str]) -> tuple[int, Answer]:
        assert server.stdout is not None
        line = server.stdout.readline()
        if not line:
            raise RuntimeError(
                f"the release's server ended with exit code {server.wait()}; ask with --verbose to see why"
            )
        reply = json.loads(line)
        return reply["id"], reply["answer"]

    def _server(self, kind: Kind) -> subprocess.Popen[str]:
        if kind not in self.servers:
            command = ("conformance.live.server", str(self.jobs))
            self.servers[kind] = start(default_home(kind[0]), kind[1], command, verbose=self.verbose)
        return self.servers[kind]


def start(home: Home, gfx: str, command: Iterable[str], *, verbose: bool = False) -> subprocess.Popen[str]:
    """Run a module of ours, with its arguments, where it finds the release; it reads stdin and answers on stdout."""
    return subprocess.Popen(
        [str(home.python), "-P", "-m", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if verbose else subprocess.DEVNULL,
        text=True,
        env=environment(home, gfx),
        cwd=home.root,
    )


def environment(home: Home, gfx: str) -> dict[str, str]:
    """The variables with which an interpreter finds the release, our modules and stand-ins for what is not here."""
    if not home.ready:
        raise FileNotFoundError(f"no {home.release} in {home.root}: python -m conformance.install {home.release}")
    paths = (PACKAGE / "live" / "stand_ins", home.package, PACKAGE.parent)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VLLM_")}
    own = {
        "FSE_GFX": gfx,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "VLLM_CACHE_ROOT": str(home.root / "cache"),
    }
    return {**kept, **QUIET, **REQUESTED_ENVIRONMENT, **own}


def merged(stages: list[Answer]) -> Answer:
    """One answer from those of a model's pipeline stages, in their order up to the one that ends the start."""
    whole = stages[0]
    for other in stages[1:]:
        if whole["error"]:
            break
        for key in ("decisions", "built", "separate", "warnings"):
            whole[key] += other[key]
        for key in ("error", "draft_error"):
            whole[key] = whole[key] or other[key]
        whole["fused"] = {
            "target": _flags(whole["fused"]["target"], other["fused"]["target"]),
            "draft": other["fused"]["draft"],
        }
    return whole


def _flags(one: list[bool] | None, other: list[bool] | None) -> list[bool] | None:
    """The flags of a whole model, None where one of its stages was not built."""
    return None if one is None or other is None else sorted({*one, *other})


def main() -> int:
    """Run the command line. Its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="show what the release prints")
    arguments = parser.parse_args()
    cases = [case for file in arguments.files for case in read_cases(file)]
    with Live(jobs=arguments.jobs, verbose=arguments.verbose) as live:
        for _, answer in live.ask_all(cases):
            print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
