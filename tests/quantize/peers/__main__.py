"""Ask a peer about the exhaustive blocks, compare its bytes with ours, and record them.

    python -m tests.quantize.peers torchao
    python -m tests.quantize.peers vllm   --source SITE_PACKAGES
    python -m tests.quantize.peers quark  --source SITE_PACKAGES
    python -m tests.quantize.peers aiter  --source CHECKOUT --version COMMIT

SITE_PACKAGES holds the peer's unpacked wheel, CHECKOUT its repository: only their Python files are read. Run it in a
throw-away environment with torch and NumPy; for torchao with it, for vllm and aiter with triton, for quark with ninja
and a C++ compiler. Ends with status 1, and writes nothing, where a row that is to be recorded differs from ours.
"""

import argparse
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from fse_core.quantize.base import Format
from fse_core.quantize.mxfp4 import Mxfp4
from fse_core.quantize.mxfp8 import Mxfp8
from tests.quantize import exhaustive
from tests.quantize.peers.record import Answer

PEERS = ("torchao", "vllm", "quark", "aiter")


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--source", type=Path, help="where the peer's files are")
    parser.add_argument("--version", help="of what is there, if its files do not say")
    arguments = parser.parse_args()
    peer = importlib.import_module(f"tests.quantize.peers.from_{arguments.peer}")
    answers: Iterator[Answer] = peer.answers(arguments.source, arguments.version)
    return int(sum(_differing(answer) for answer in answers) > 0)


def _differing(answer: Answer) -> int:
    form: Format = {"mxfp4": Mxfp4, "mxfp8": Mxfp8}[answer.format](**answer.options)
    blocks = exhaustive.e2m1_blocks() if answer.format == "mxfp4" else exhaustive.e4m3_blocks()
    ours = form.quantize(blocks[answer.first : answer.last])
    pairs = ((ours.payload, answer.payload), (ours.scale, answer.scale))
    wrong = torch.stack([(a.view(torch.uint8) != b.view(torch.uint8)).any(1) for a, b in pairs]).any(0)
    rows = [hex(answer.first + int(row)) for row in wrong.nonzero().flatten()]
    print(
        f"{answer.name}: {len(wrong)} rows, {len(rows)} differ{': ' if rows else ''}{', '.join(rows[:3] + rows[-3:])}"
    )
    if not rows:
        print(f"written: {answer.write().name}")
    return len(rows)


if __name__ == "__main__":
    sys.exit(main())
