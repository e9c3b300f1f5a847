"""Asks releases to load checkpoints with the plugin and without: one process a release and GPU, a child a question."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from conformance.checkpoints import tensors
from conformance.checkpoints.tensors import Tensor
from conformance.home import default_home
from conformance.live.ask import start
from conformance.plugin import site

Answer = Mapping[str, Any]


class Checkpoint(Protocol):
    """What can be written and loaded; what has no tensors is only built."""

    @property
    def name(self) -> str: ...

    def config(self) -> dict[str, Any]: ...

    def tensors(self) -> Iterator[Tensor]: ...


@dataclass(frozen=True, kw_only=True)
class Start:
    """One start of vLLM: the checkpoint, the release, the options, and whether the plugin is installed beside it."""

    checkpoint: Checkpoint
    release: str
    plugin: bool
    gfx: str = "gfx950"
    rank: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Tells it from others of the same release."""
        options = "".join(f" {key}={json.dumps(value)}" for key, value in {**self.options, **self.environment}.items())
        return f"{self.checkpoint.name}{options} rank {self.rank} {self.gfx} {'with' if self.plugin else 'without'}"


def ask(starts: Iterable[Start], *, verbose: bool = False) -> Iterator[tuple[Start, Answer]]:
    """The answers, release by release, in the order of the questions of each."""
    groups: dict[tuple[str, str], list[Start]] = {}
    for one in starts:
        groups.setdefault((one.release, one.gfx), []).append(one)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        site.install(place / "site")
        for (release, gfx), members in groups.items():
            yield from _of_one(release, gfx, members, place, verbose=verbose)


def _of_one(
    release: str, gfx: str, starts: list[Start], place: Path, *, verbose: bool
) -> Iterator[tuple[Start, Answer]]:
    server = start(default_home(release), gfx, ("conformance.live.plugged",), verbose=verbose)
    assert server.stdin is not None
    assert server.stdout is not None
    with server:
        for one in starts:
            file = _written(one.checkpoint, place)
            server.stdin.write(json.dumps(_line(one, file, place / "site")) + "\n")
            server.stdin.flush()
            answer = server.stdout.readline()
            if not answer:
                raise RuntimeError(f"vLLM {release} ended without an answer; --verbose shows why")
            yield one, json.loads(answer)
        server.stdin.close()


def _written(checkpoint: Checkpoint, place: Path) -> Path | None:
    stored = list(checkpoint.tensors())
    if not stored:
        return None
    file = place / f"{checkpoint.name}.safetensors"
    if not file.exists():
        tensors.write(file, stored)
    return file


def _line(one: Start, file: Path | None, installed: Path) -> dict[str, Any]:
    target = {"draft": False, "gfx": one.gfx, **one.options, "environment": dict(one.environment)}
    return {
        "config": one.checkpoint.config(),
        "tensors": None if file is None else str(file),
        "target": target,
        "rank": one.rank,
        "site": str(installed) if one.plugin else None,
    }
