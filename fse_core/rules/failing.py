"""What aborts the start, wherever it was raised, for the rules that know a remedy."""

from collections.abc import Iterator
from dataclasses import dataclass

from fse_core.report import Failure, Layer
from fse_core.rules.base import Facts, PartFacts


@dataclass(frozen=True, kw_only=True)
class Raised:
    """An exception, with the part and the layers at which it was raised; without any it is about the whole."""

    failure: Failure
    part: PartFacts | None = None
    layers: tuple[Layer, ...] = ()

    def says(self, *beginnings: str) -> bool:
        """Whether its words begin so, after the line that pydantic puts before them."""
        words = self.failure.message.rpartition("\n  Value error, ")[2]
        return words.startswith(beginnings)


def raised(facts: Facts) -> Iterator[Raised]:
    """All of them: what ended the start, and what was raised as a layer was decided."""
    if facts.failure is not None:
        yield Raised(failure=facts.failure)
    for part in facts.parts:
        for layer in part.layers:
            if layer.decision.error is not None:
                yield Raised(failure=layer.decision.error, part=part, layers=(layer,))
