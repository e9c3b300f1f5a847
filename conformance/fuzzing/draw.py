"""A source of weighted choices that is the same for the same seed."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """What every generator draws from."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one(self, choices: Iterable[T]) -> T:
        return self.random.choice(list(choices))

    def weighted(self, choices: Mapping[T, float]) -> T:
        return self.random.choices(list(choices), list(choices.values()))[0]

    def some(self, choices: Sequence[T], least: int = 1) -> list[T]:
        """At least `least` of the choices, in their order; often few, sometimes all."""
        if len(choices) <= least or self.chance(0.3):
            return list(choices)
        number = self.random.randint(least, len(choices))
        kept = sorted(self.random.sample(range(len(choices)), number))
        return [choices[index] for index in kept]

    def mixed(self, items: Sequence[T]) -> list[T]:
        """The items in any order."""
        return self.random.sample(list(items), len(items))
