"""`fse convert`: a checkpoint whose shared experts are stored like its routed ones."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fse_core.cli.commands import Command
from fse_core.cli.console import complain, write
from fse_core.cli.statuses import INTERRUPTED, NO_ANSWER
from fse_core.errors import FseError

if TYPE_CHECKING:
    from fse_core.convert.plan import Plan

_EPILOG: Final = """\
MODEL_DIR is only read. What changes is written to DIR: the shards that hold shared experts, the index, and the
entries of the quantization block that speak of shared experts. Other weights are hard links where the file system has
them, so that they take no room; all else is copied. A run that was interrupted, for whatever reason, goes on where it
stopped when the same command is given again.

exit status: 0 converted, or converted before; 2 wrong command line; 3 refused, or not written, with the reason, such
as that another fse convert is writing there; 70 a bug in fse; 130 interrupted.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=_folder, metavar="MODEL_DIR", help="a checkpoint folder with safetensors files")
    parser.add_argument(
        "--out", required=True, type=_folder, metavar="DIR", help="a new folder, or that of an interrupted run"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and write nothing")
    parser.add_argument(
        "--accept-loss",
        action="store_true",
        help="make MXFP4 of shared experts that are FP8 already (published: up to 8.6 points of flexible GSM8K lost)",
    )
    parser.add_argument("--workers", type=_count, default=1, metavar="N", help="share the shards out to N processes")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="(default: auto)")


def _folder(text: str) -> str:
    if not text:  # as of a variable that is not set; it would be taken for the folder one is in
        raise argparse.ArgumentTypeError("expected the name of a folder, got ''")
    return text


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:6]) <= 256:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 256, got {text!r}")
    return int(text)


def _run(args: argparse.Namespace) -> int:
    from fse_core.convert.plan import make_plan  # only now: a wrong command line should not wait for the engine

    try:
        plan = make_plan(args.model, accept_loss=args.accept_loss)
        if args.dry_run:
            return write("".join(f"{line}\n" for line in (*_told(plan), "dry run: nothing was written")))
        files = _convert(plan, args)
    except FseError as error:
        complain(str(error))
        return NO_ANSWER
    except KeyboardInterrupt:
        complain("interrupted: the same command goes on where it stopped")
        return INTERRUPTED
    return write("".join(f"{line}\n" for line in (*_told(plan), *_result(plan, args.out, files))))


def _convert(plan: "Plan", args: argparse.Namespace) -> Mapping[str, Any]:
    from fse_core.convert.progress import Bar
    from fse_core.convert.run import run

    bar = Bar()
    try:
        return run(plan, args.out, bar, workers=args.workers, device=args.device)
    finally:
        bar.end()


def _told(plan: "Plan") -> Iterator[str]:
    """The plan, for people."""
    from fse_core.convert.progress import amount
    from fse_core.grouping import numbers

    yield str(plan.checkpoint.folder)
    kinds: dict[str, set[int]] = {}
    for one in plan.conversions:
        kinds.setdefault(f"{one.source_name} to {one.layout.name}", set()).add(one.index)
    for kind, layers in kinds.items():
        yield f"  layers {numbers(sorted(layers))}: {kind}"
    size = sum(shard.size for shard in plan.shards)
    count = len(plan.shards)
    yield f"  {len(plan.conversions)} tensors in {count} shard{'s' * (count > 1)}; {amount(size)} to write"
    for answer in plan.accepted:
        yield f"  vLLM {answer.release} {'fuses it' if answer.accepts else f'does not fuse it: {answer.why}'}"


def _result(plan: "Plan", out: str, files: Mapping[str, Any]) -> Iterator[str]:
    from fse_core.convert.manifest import read_manifest
    from fse_core.slots import PLAIN

    errors: dict[int, list[float]] = {}
    for record in read_manifest(Path(out))["tensors"].values():
        errors.setdefault(record["layer"], []).append(record["relative_mse"])
    lossy = any(one.source is not PLAIN for one in plan.conversions)
    for layer, values in sorted(errors.items()) if lossy else ():
        yield f"  layer {layer}: relative squared error {max(values):.3g}"
    worst = max(errors, key=lambda layer: max(errors[layer]))
    ways = [record["how"] for record in files.values()]
    told = ", ".join(f"{ways.count(way)} {way}" for way in ("rewritten", "patched", "linked", "copied"))
    yield f"  files: {told}"
    yield f"converted to {out}; the largest relative squared error is {max(errors[worst]):.3g}, in layer {worst}"


COMMAND = Command(
    help="store a checkpoint's shared experts like its routed ones",
    description="Writes a checkpoint whose shared experts are stored like its routed ones, for stock vLLM to fuse.",
    epilog=_EPILOG,
    add_options=_add_options,
    run=_run,
)
