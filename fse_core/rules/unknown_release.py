"""The vLLM that was asked for is not one of the known releases; another one answers for it.

A release candidate or a nightly is answered by the release that it led to, what else lies between two known releases by
the one before it, and what is newer than all by the newest. Nearly always that is right; where the version changed
something that bears on fusion, or did not have it yet, it is not.
"""

from collections.abc import Iterator

from fse_core import releases
from fse_core.report import Fix
from fse_core.rules.base import Facts, Hit, Rule

RULE = Rule(id="FSE151", name="unknown-release", severity="warning")


def check(facts: Facts) -> Iterator[Hit]:
    """One hit where the version asked for is not known."""
    asked = facts.target.vllm
    if releases.is_known(asked):
        return
    kind = "is no release" if releases.parsed(asked).unreleased else "is not a release known to this version of fse"
    answers = facts.release.version
    yield Hit(
        message=f"vLLM {asked} {kind}: this is what vLLM {answers} does. How {asked} differs from it is not known.",
        consequence="none",
        evidence=(f"asked for {asked}, answered by {answers}",),
        fixes=(Fix(kind="release", safety="lossless", summary=f"use vLLM {answers}", patch={"vllm": answers}),),
    )
