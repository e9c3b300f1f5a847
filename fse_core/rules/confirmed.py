"""What the config alone is certain of, where a sample of the headers shows the same."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from fse_core.report import BREAKING
from fse_core.rules.base import Facts, Hit, Rule

Told = tuple[Rule, Hit]


def confirmed(facts: Facts, hits: Callable[[Facts], Iterator[Told]]) -> Iterator[Told]:
    """The hits of all rules. What a sample lets stand as likely is certain where the config by itself is, too: there
    may be tensors that were not read, and the ones that were bear the config out.
    """
    headers = facts.model.headers
    if headers is None or headers.complete:
        yield from hits(facts)
        return
    alone = replace(facts, model=replace(facts.model, headers=None))
    sure = {place for rule, hit in hits(alone) if _certain(rule, hit) for place in _broken(hit)}
    for rule, hit in hits(facts):
        broken = _broken(hit)
        yield rule, replace(hit, confidence="certain") if broken and broken <= sure else hit


def _certain(rule: Rule, hit: Hit) -> bool:
    return (hit.confidence or rule.confidence) == "certain"


def _broken(hit: Hit) -> set[tuple[str, str, str]]:
    """The layers that break by it, and how."""
    breaks = hit.consequence in BREAKING
    return {(layer.part, layer.prefix, hit.consequence) for layer in hit.layers} if breaks else set()
