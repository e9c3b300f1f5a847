"""What releases did with tiny checkpoints of all kinds, as recorded, against what a check says of their files."""

from collections.abc import Iterator

import pytest

from conformance.checkpoints import tensors
from conformance.checkpoints.kinds import Kind, kinds
from conformance.load_truth import GFX, RELEASES, recorded
from conformance.outcomes import Truth, differs, opposite, said

FAMILIES = sorted({kind.family for kind in kinds()})


@pytest.fixture(autouse=True)
def _cheap_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the headers matter here."""
    monkeypatch.setattr(tensors, "_noise", lambda _name, size: b"\4" * size)


def of(family: str) -> Iterator[tuple[Kind, str, Truth]]:
    own = [kind for kind in kinds() if kind.family == family]
    for release in RELEASES:
        for kind, truth in recorded(release, own):
            assert truth is not None, f"{kind.name} is not recorded of {release}"
            yield kind, release, truth


@pytest.mark.parametrize("family", FAMILIES)
def test_full_headers_tell_what_loading_comes_to(family: str) -> None:
    told = {f"{release} {kind.name}": differs(said(kind, release, GFX), truth) for kind, release, truth in of(family)}
    assert {name: difference for name, difference in told.items() if difference} == {}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_config_alone_is_never_certain_of_the_opposite(family: str) -> None:
    told = {
        f"{release} {kind.name}": opposite(kind, said(kind, release, GFX), truth) for kind, release, truth in of(family)
    }
    assert {name: difference for name, difference in told.items() if difference} == {}


def test_there_are_kinds_enough_of_each_outcome() -> None:
    assert len({kind.recipe_name for kind in kinds()}) >= 40
    assert len(FAMILIES) >= 5
    for release in RELEASES:
        outcomes = [truth.outcome for _, truth in recorded(release, kinds()) if truth is not None]
        assert {outcome for outcome in outcomes if outcomes.count(outcome) >= 40} >= {
            "sound", "load_fails", "silent_corruption",
        }  # fmt: skip
