"""How fast a CPU quantizes, against the reference run eagerly and against the reference compiled, in one run.

    python -m benchmarks.quantizers [--layers N] [FORMAT ...]     (exit status 1 if a bound is missed)

First the shapes of DeepSeek-R1's shared experts, layer by layer, by ours and eagerly, from a process's first call on:
ours compiles nothing. The sum is scaled from N layers to all of them, 174 tensors. Then one tensor again and again, by
ours and by the compiled reference, of the whole or of chunks; for mxfp4 also by leaner arithmetic, compiled, that is
right for ordinary numbers only. What is compared takes turns, so that what else the machine does slows all. Where it
does much, the processor's time says more than the clock's; OMP_WAIT_POLICY=passive keeps waiting out of it.
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
TURNS = 21
# Seconds by the clock, and of processor time.
Spent = tuple[float, float]
# Of the warm compiled reference's speed, and of the eager one's over the whole model. Other formats have no bounds.
BOUNDS = {"mxfp4": (0.95, 3.0)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Model:
    """Seconds for every shared expert of the model."""

    ours: float
    eager: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Warm:
    """Medians for one tensor, in seconds by the clock and of processor time; how many times as fast ours is."""

    seconds: float
    worked: float
    ratio: float
    worked_ratio: float

    def __str__(self) -> str:
        """As a part of a line."""
        times = f"{self.ratio:.2f} by the clock, {self.worked_ratio:.2f} by the processor"
        return f"{self.seconds * 1e3:.0f} ms, processor {self.worked * 1e3:.0f} ms; over ours {times}"


def main() -> int:
    """Measure the formats asked for; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", nargs="*", help=f"of {', '.join(formats())}; default: every one")
    parser.add_argument("--layers", type=int, default=6, help=f"of {LAYERS}; default: 6")
    arguments = parser.parse_args()
    names = arguments.format or list(formats())
    if unknown := set(names) - set(formats()):
        parser.error(f"no such format: {', '.join(sorted(unknown))}")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, load {os.getloadavg()[0]:.1f}")
    missed = [name for name in names if not _met(name, arguments.layers)]
    return int(bool(missed))


def _met(name: str, layers: int) -> bool:
    form = formats()[name]
    # Where there is no bound a layer is enough to see the order of magnitude.
    model = whole_model(form, layers if name in BOUNDS else 1)
    against_eager = model.eager / model.ours
    print(
        f"{name:12} {3 * LAYERS} tensors: ours {model.ours:.1f} s, eager {model.eager:.1f} s, {against_eager:.1f} times"
    )
    one = warm(form)
    for rival, times in one.items():
        print(f"{'':12} {GATE[0]}x{GATE[1]} warm, {rival}: {times}")
    print(f"{'':12} load {os.getloadavg()[0]:.1f}", flush=True)
    least = BOUNDS.get(name, (0.0, 0.0))
    against_compiled = min(one["compiled"].ratio, one["compiled in chunks"].ratio)
    return against_compiled >= least[0] and against_eager >= least[1]


def whole_model(form: Format, layers: int) -> Model:
    """Run so many layers, each by both in turn, and scale to all of them."""
    three = [random(*GATE), random(*GATE), random(*DOWN)]
    spent = [(_seconds(form.quantize, three), _seconds(form.reference, three)) for _ in range(layers)]
    ours, eager = (sum(side) * LAYERS / layers for side in zip(*spent, strict=True))
    return Model(ours=ours, eager=eager)


def warm(form: Format) -> dict[str, Warm]:
    """Take turns on one tensor."""
    weight = [random(*GATE)]
    ways: dict[str, Callable[[torch.Tensor], object]] = {
        "ours": form.quantize,
        "compiled": torch.compile(form.reference, dynamic=False),
        "compiled in chunks": dataclasses.replace(form, backend="compiled").quantize,
    }
    if form.name == "mxfp4":
        ways["leaner, compiled"] = torch.compile(mxfp4_by_float_sums, dynamic=False)
    for way in ways.values():
        _spent(way, weight)
    turns = [[_spent(way, weight) for way in ways.values()] for _ in range(TURNS)]
    return {name: _medians([(turn[0], turn[at]) for turn in turns]) for at, name in enumerate(ways)}


def _medians(pairs: Sequence[tuple[Spent, Spent]]) -> Warm:
    return Warm(
        seconds=statistics.median(theirs[0] for _, theirs in pairs),
        worked=statistics.median(theirs[1] for _, theirs in pairs),
        ratio=statistics.median(theirs[0] / ours[0] for ours, theirs in pairs),
        worked_ratio=statistics.median(theirs[1] / ours[1] for ours, theirs in pairs),
    )


def mxfp4_by_float_sums(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The bytes for ordinary bfloat16: a float32 sum rounds, half to even, to the step between codes."""
    raw = weight.view(torch.int16).int().view(len(weight), -1, 32)
    size = raw & 0x7FFF
    scale = (((size.amax(-1) + 0x20) >> 7) - 2).clamp(0, 253)
    scaled = (size << 16).view(torch.float32) * ((254 - scale) << 23).view(torch.float32).unsqueeze(-1)
    binade = (scaled.view(torch.int32) & 0x7F800000).clamp(min=127 << 23)
    addend = binade + (22 << 23)
    code = (scaled + addend.view(torch.float32)).view(torch.int32) - addend + (binade >> 22) - 254
    nibbles = (code.clamp(max=7) | ((raw >> 12) & 8)).view(len(weight), -1, 2)
    return (nibbles[..., 0] | (nibbles[..., 1] << 4)).to(torch.uint8), scale.to(torch.uint8)


def random(rows: int, columns: int) -> torch.Tensor:
    """A weight as models have them."""
    return (torch.randn(rows, columns) * 0.02).bfloat16()


def _seconds(run: Callable[[torch.Tensor], object], weights: Sequence[torch.Tensor]) -> float:
    return _spent(run, weights)[0]


def _spent(run: Callable[[torch.Tensor], object], weights: Sequence[torch.Tensor]) -> Spent:
    """Seconds by the clock, and of processor time."""
    started, worked = time.perf_counter(), time.process_time()
    for weight in weights:
        run(weight)
    return time.perf_counter() - started, time.process_time() - worked


if __name__ == "__main__":
    sys.exit(main())
