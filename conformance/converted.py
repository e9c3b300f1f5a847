"""Converts tiny checkpoints, and asks the releases themselves whether they fuse the result and load it rightly.

usage: python -m conformance.converted [--verbose]
Shared experts in bf16 stand beside routed ones in each format, in four families. Every release with a gate that has a
branch for the format is asked what it decides about the new config, and 0.33.0 loads the new checkpoint: every byte of
every expert parameter has to be what our loader makes of the source. Exit code 1 where anything differs, 75 where a
release cannot be had.
"""

import argparse
import functools
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance import install, loading
from conformance.case import Case
from conformance.checkpoints.families import COMPARED
from conformance.checkpoints.schemes import CONVERTIBLE
from conformance.checkpoints.tiny import Tiny
from conformance.compare import judge
from conformance.home import RELEASE
from conformance.live.ask import Live
from conformance.loaded import compare
from conformance.questions import GFX, WIDTH, Question
from conformance.truth import layers
from fse_core.convert.plan import Plan, make_plan
from fse_core.convert.run import run
from fse_core.errors import FseError
from fse_core.target import Target


@dataclass(frozen=True, kw_only=True)
class Converted:
    """A checkpoint and what became of it; `plan` is None where it was refused, and `refused` says why."""

    tiny: Tiny
    folder: Path
    plan: Plan | None
    refused: str = ""


class Unwatched:
    """No one looks on."""

    def begin(self, total: int) -> None: ...
    def advance(self, count: int) -> None: ...
    def lost(self, what: object) -> None: ...


def checkpoints() -> Iterator[Tiny]:
    """What is converted."""
    for family, kind in COMPARED.items():
        for scheme in CONVERTIBLE:
            for shared in (1, 2) if kind.several else (1,):
                yield Tiny(family=family, scheme=scheme, width=WIDTH, shared=shared)


def convert(tiny: Tiny, place: Path) -> Converted:
    """Write the checkpoint, and convert it."""
    source, out = place / "source", place / "out"
    source.mkdir(parents=True)
    tiny.write(source)
    try:
        plan = make_plan(source)
        run(plan, out, Unwatched(), device="cpu")
    except FseError as error:
        return Converted(tiny=tiny, folder=out, plan=None, refused=str(error))
    return Converted(tiny=tiny, folder=out, plan=plan)


def decided(done: Converted, servers: Live) -> Iterator[tuple[str, bool]]:
    """What each release with a branch does with the result, and whether that is what was promised."""
    assert done.plan is not None
    config = json.loads((done.folder / "config.json").read_bytes())
    for promised in done.plan.accepted:
        if _ready(promised.release) == install.UNAVAILABLE:
            continue
        target = Target(vllm=promised.release, gfx=GFX)
        case = Case(name=f"{done.tiny.name}, {promised.release}", config=config, target=target)
        answer = servers.ask(case)
        fuses = {said.decision for said in layers(answer).values()} == {"fused"}
        agrees = judge(case, answer).agreed == judge(case, answer).compared and fuses == promised.accepts
        yield f"{case.name}: {'fuses' if fuses else 'does not fuse'}", agrees


@functools.cache
def _ready(release: str) -> int:
    status = install.ready(release)
    if status == install.UNAVAILABLE:
        print(f"SKIPPED: {release} was not asked, for the release itself is not here", flush=True)
    return status


def loads(done: list[Converted], *, verbose: bool) -> Iterator[tuple[str, str]]:
    """Each expert parameter of the converted checkpoints that 0.33.0 loaded: its name, and how it compares."""
    lines = (
        {
            "config": json.loads((one.folder / "config.json").read_bytes()),
            "tensors": str(one.folder / "model.safetensors"),
            "target": {"tp": 1, "overlay": None, "draft": False, "gfx": GFX},
            "rank": 0,
        }
        for one in done
    )
    for one, answer in zip(done, loading.answers(lines, verbose=verbose), strict=True):
        if answer["error"] is not None:
            yield one.tiny.name, f"release raises {answer['error']['type']}: {answer['error']['message']}"
        for held in compare(Question(tiny=one.tiny), answer["loaded"]):
            yield f"{one.tiny.name}: {held.parameter}", held.kind


def check(place: Path, *, verbose: bool = False) -> bool:
    """Convert, ask and load. Whether all is as it was promised."""
    counts: Counter[str] = Counter()
    done = [convert(tiny, place / tiny.name) for tiny in checkpoints()]
    for one in done:
        if one.plan is None:
            counts["refused"] += 1
            print(f"{one.tiny.name}: refused: {one.refused}")
    converted = [one for one in done if one.plan is not None]
    with Live(jobs=2, verbose=verbose) as servers:
        for one in converted:
            for words, agrees in decided(one, servers):
                counts["decisions as promised" if agrees else "decisions that differ"] += 1
                if not agrees:
                    print(words, flush=True)
    for name, kind in loads(converted, verbose=verbose):
        counts[kind] += 1
        if kind != "agreed":
            print(f"{name}: {kind}", flush=True)
    print(f"converted: {len(converted)} checkpoints, {', '.join(f'{n} {kind}' for kind, n in counts.most_common())}")
    return set(counts) <= {"decisions as promised", "agreed", "refused"}


def main() -> int:
    """Run the command line. Its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--verbose", action="store_true", help="show what the releases print")
    arguments = parser.parse_args()
    if install.ready(RELEASE) == install.UNAVAILABLE:
        return install.UNAVAILABLE
    with tempfile.TemporaryDirectory() as place:
        return 0 if check(Path(place), verbose=arguments.verbose) else 1


if __name__ == "__main__":
    sys.exit(main())
