"""How fast a CPU quantizes, against the reference run eagerly and against the reference compiled, in one run.

    python -m benchmarks.quantizers [FORMAT ...]     (exit status 1 if a bound is missed)

First the shapes of DeepSeek-R1's 174 shared-expert tensors, layer by layer, by ours and eagerly, from a process's first
call on; then one of its tensors again and again, by ours and by the compiled reference, when that is compiled. The two
that are compared take turns, so that what else the machine does slows both.
"""

import argparse
import dataclasses
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence

import torch

from fse_core.quantize import formats
from fse_core.quantize.base import Format

# gate and up, then down: 58 layers of them.
GATE, DOWN = (2048, 7168), (7168, 2048)
LAYERS = 58
# Turns of the warm comparison.
TURNS = 15
# Of the warm compiled reference's speed, and of the eager one's over the whole model. Other formats have no bounds.
BOUNDS = {"mxfp4": (0.95, 3.0)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Model:
    """Seconds for every shared expert of the model."""

    ours: float
    eager: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Warm:
    """Medians for one tensor, in seconds; the ratio is the median of the turns' ratios."""

    ours: float
    compiled: float
    ratio: float
    compiling: float


def main() -> int:
    """Measure the formats asked for; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", nargs="*", help=f"of {', '.join(formats())}; default: every one")
    names = parser.parse_args().format or list(formats())
    if unknown := set(names) - set(formats()):
        parser.error(f"no such format: {', '.join(sorted(unknown))}")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, load {os.getloadavg()[0]:.1f}")
    missed = [name for name in names if not _met(name)]
    return int(bool(missed))


def _met(name: str) -> bool:
    form = formats()[name]
    # Where there is no bound a layer is enough to see the order of magnitude.
    model = whole_model(form, LAYERS if name in BOUNDS else 1)
    one = warm(form)
    against_compiled, against_eager = one.ratio, model.eager / model.ours
    print(
        f"{name:12} {3 * LAYERS} tensors: ours {model.ours:.1f} s, eager {model.eager:.1f} s,"
        f" {against_eager:.1f} times as fast\n"
        f"{'':12} {GATE[0]}x{GATE[1]} warm: ours {one.ours * 1e3:.1f} ms, compiled {one.compiled * 1e3:.1f} ms"
        f" (after {one.compiling:.1f} s), {against_compiled:.2f} of its speed; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    least = BOUNDS.get(name, (0.0, 0.0))
    return against_compiled >= least[0] and against_eager >= least[1]


def whole_model(form: Format, layers: int) -> Model:
    """Run so many layers, each by both in turn, and scale to all of them."""
    three = [random(*GATE), random(*GATE), random(*DOWN)]
    spent = [(_seconds(form.quantize, three), _seconds(form.reference, three)) for _ in range(layers)]
    ours, eager = (sum(side) * LAYERS / layers for side in zip(*spent, strict=True))
    return Model(ours=ours, eager=eager)


def warm(form: Format) -> Warm:
    """Take turns on one tensor, against the faster way to call the compiled reference: of the whole, or of chunks."""
    weight = [random(*GATE)]
    compiled = torch.compile(form.reference, dynamic=False)
    chunked = dataclasses.replace(form, backend="compiled").quantize
    compiling = _seconds(compiled, weight)
    _seconds(chunked, weight)
    turns = []
    for _ in range(TURNS):
        ours, whole, chunks = (_seconds(run, weight) for run in (form.quantize, compiled, chunked))
        turns.append((ours, min(whole, chunks)))
    ours, best = (statistics.median(side) for side in zip(*turns, strict=True))
    return Warm(ours=ours, compiled=best, ratio=statistics.median(b / a for a, b in turns), compiling=compiling)


def random(rows: int, columns: int) -> torch.Tensor:
    """A weight as models have them."""
    return (torch.randn(rows, columns) * 0.02).bfloat16()


def _seconds(run: Callable[[torch.Tensor], object], weights: Sequence[torch.Tensor]) -> float:
    started = time.perf_counter()
    for weight in weights:
        run(weight)
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
