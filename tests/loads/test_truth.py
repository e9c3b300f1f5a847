"""What releases did with tiny checkpoints of all kinds, as recorded, against what a check says of their files."""

from collections.abc import Iterable, Iterator

import pytest

from conformance.checkpoints import tensors
from conformance.checkpoints.kinds import Kind, kinds
from conformance.load_truth import GFX, INDEXES, RELEASES, recorded
from conformance.outcomes import Truth, differs, opposite, parts, reversed_by, said, sampled

FAMILIES = sorted({kind.family for kind in kinds()})


@pytest.fixture(autouse=True)
def _cheap_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the headers matter here."""
    monkeypatch.setattr(tensors, "_noise", lambda _name, size: b"\4" * size)


def of(family: str, releases: Iterable[str] = RELEASES) -> Iterator[tuple[Kind, str, Truth]]:
    own = [kind for kind in kinds() if kind.family == family]
    for release in releases:
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


@pytest.mark.parametrize("family", FAMILIES)
def test_a_sample_with_an_index_tells_what_loading_comes_to(family: str) -> None:
    for kind, release, truth in of(family, ["0.24.0", "0.29.0", "0.33.0"]):
        if truth.outcome != "does_not_start":
            ours = sampled(kind, release, GFX, "small")
            assert reversed_by(ours, truth) is None, f"{release} {kind.name}"
            for own, true in parts(ours, truth):
                assert true.outcome in (own.likely, "does_not_start"), f"{release} {kind.name}"


@pytest.mark.parametrize("index", sorted(INDEXES.keys() - {"small"}))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_sample_is_never_certain_of_the_opposite(family: str, index: str) -> None:
    for kind, release, truth in of(family, ["0.33.0"]):
        if truth.outcome != "does_not_start" and (index == "large" or kind.recipe.files == "one"):
            assert reversed_by(sampled(kind, release, GFX, index), truth) is None, f"{release} {kind.name}"


def test_drafts_of_each_outcome_are_among_them() -> None:
    for release in RELEASES:
        drafts = [truth.draft.outcome for _, truth in recorded(release, kinds()) if truth and truth.draft]
        assert {outcome for outcome in drafts if drafts.count(outcome) >= 15} >= {
            "sound", "load_fails", "silent_corruption",
        }  # fmt: skip


def test_there_are_kinds_enough_of_each_outcome() -> None:
    assert len({kind.recipe_name for kind in kinds()}) >= 40
    assert len(FAMILIES) >= 5
    for release in RELEASES:
        outcomes = [truth.outcome for _, truth in recorded(release, kinds()) if truth is not None]
        assert {outcome for outcome in outcomes if outcomes.count(outcome) >= 40} >= {
            "sound", "load_fails", "silent_corruption",
        }  # fmt: skip
