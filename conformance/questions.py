"""Which tiny checkpoints are loaded, and as which ranks."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from conformance.checkpoints.families import COMPARED
from conformance.checkpoints.schemes import SCHEMES
from conformance.checkpoints.tiny import Tiny

GFX = "gfx950"
SIZES = (1, 2, 4)
WIDTH = 512
"""Over tensor parallel size 4, one 128-block a rank."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """One loading: a checkpoint, and as which rank of how many."""

    tiny: Tiny
    tp: int = 1
    rank: int = 0

    @property
    def name(self) -> str:
        return f"{self.tiny.name} tp {self.tp} rank {self.rank}"

    @property
    def target(self) -> dict[str, Any]:
        """The target as the release's harness takes it."""
        return {"tp": self.tp, "overlay": self.tiny.overlay, "draft": False, "gfx": GFX}

    @property
    def digest(self) -> str:
        """Tells one question from another, whatever it is called."""
        whole = {"config": self.tiny.config(), **asdict(self)}
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:16]


def loadable() -> Iterator[Tiny]:
    """Checkpoints that are loaded as every rank."""
    for family, kind in COMPARED.items():
        for scheme in SCHEMES:
            yield Tiny(family=family, scheme=scheme, width=WIDTH)
            if kind.several:
                yield Tiny(family=family, scheme=scheme, width=WIDTH, shared=2)
    yield Tiny(family="deepseek", scheme="mxfp4_online", width=128)  # 32 columns a rank of 4, which a backend pads


def odd() -> Iterator[Tiny]:
    """Checkpoints whose names or widths not every class of the release can take, loaded once."""
    for family, kind in COMPARED.items():
        yield Tiny(family=family, scheme="mxfp4_online", width=WIDTH, packed=True)
        if not kind.several:
            yield Tiny(family=family, scheme="mxfp4_online", width=WIDTH, shared=2)


def questions() -> Iterator[Question]:
    """All of them: every rank of every size, but for the odd ones."""
    for tiny in loadable():
        yield from (Question(tiny=tiny, tp=tp, rank=rank) for tp in SIZES for rank in range(tp))
    yield from map(_alone, odd())


def some() -> Iterator[Question]:
    """One of each family and scheme, with two shared experts where it takes them: the last rank of the largest size."""
    chosen = (
        tiny for tiny in loadable() if tiny.shared == 2 or tiny.width != WIDTH or not COMPARED[tiny.family].several
    )
    yield from (Question(tiny=tiny, tp=SIZES[-1], rank=SIZES[-1] - 1) for tiny in chosen)
    yield from map(_alone, odd())


def _alone(tiny: Tiny) -> Question:
    return Question(tiny=tiny)
