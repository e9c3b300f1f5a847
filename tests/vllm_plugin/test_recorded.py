"""What the releases themselves made of it, as it is recorded, and the page that tells."""

from typing import Any

import pytest

from conformance.plugin import patches, record, table
from conformance.plugin.beyond import BEYOND
from conformance.plugin.rows import RELEASES, ROWS

SOUND = {row.id for row in ROWS if row.id.startswith("alike-")}
ADDED = {row.id for row in BEYOND if not row.id.startswith(("refuse-", "expert-parallel"))}
REFUSED = {row.id for row in BEYOND if row.id.startswith("refuse-")}
ASKED = record.recorded("rows")
UNGATED = [release for release in ASKED if RELEASES.index(release) < RELEASES.index("0.29.0")]


def rows(release: str) -> dict[str, Any]:
    return {one["row"]: one for one in record.read("rows", release)}


@pytest.mark.parametrize("kind", ["rows", "online", "patches"])
def test_the_oldest_and_the_newest_release_were_asked(kind: str) -> None:
    assert {RELEASES[0], "0.28.0", RELEASES[-1]} <= set(record.recorded(kind))


@pytest.mark.parametrize("release", ASKED)
def test_every_row_is_recorded(release: str) -> None:
    assert set(rows(release)) == {row.id for row in (*ROWS, *BEYOND) if release in row.releases()}


@pytest.mark.parametrize("release", ASKED)
def test_with_the_plugin_everything_loads(release: str) -> None:
    bad = {name: one["with"]["text"] for name, one in rows(release).items() if not one["with"]["sound"]}
    assert {name: words for name, words in bad.items() if name not in REFUSED} == {}


@pytest.mark.parametrize("row", [row.id for row in ROWS if row.id not in SOUND])
def test_each_row_is_broken_without_the_plugin_in_some_release(row: str) -> None:
    found = [rows(release).get(row) for release in ASKED]
    without = [one["without"] for one in found if one is not None and one["without"] is not None]
    if row == "mxfp4-plain-targets":  # stock releases from 0.32.0 on do this themselves
        assert all(one["sound"] for one in without)
        return
    assert any(not one["sound"] for one in without)


@pytest.mark.parametrize("release", UNGATED)
def test_a_release_without_a_gate_breaks_what_is_stored_unlike(release: str) -> None:
    found = rows(release)
    for row in ("mxfp4-plain", "mxfp4-glob", "mxfp4-parent", "fp8-plain", "fp8-parent", "fp8-unlisted", "fp8-tensor"):
        assert not found[row]["without"]["sound"], row
        assert (found[row]["with"]["sound"], found[row]["with"]["fused"]) == (True, 0), row
        assert any(line.startswith("FSE: 0 of 2 MoE layers fused: ") for line in found[row]["with"]["lines"]), row


@pytest.mark.parametrize("release", ASKED)
def test_what_is_sound_is_fused_as_before(release: str) -> None:
    for row in SOUND:
        one = rows(release)[row]
        assert one["without"]["fused"] == one["with"]["fused"] == 2
        assert one["with"]["lines"] == ["FSE: 2 of 2 MoE layers fused"]


@pytest.mark.parametrize("release", ASKED)
def test_what_is_added_is_fused(release: str) -> None:
    for name, one in rows(release).items():
        if name in ADDED:
            assert one["with"]["fused"] == 2, name


@pytest.mark.parametrize("release", ASKED)
def test_what_is_refused_has_no_slots_and_a_reason(release: str) -> None:
    for name, one in rows(release).items():
        if name in REFUSED:
            assert one["with"]["fused"] == 0, name
            assert any(line.startswith("FSE: 0 of 2 MoE layers fused: ") for line in one["with"]["lines"]), name


@pytest.mark.parametrize("release", ASKED)
def test_compiled_graphs_have_another_key_with_the_plugin(release: str) -> None:
    for name, one in rows(release).items():
        if one["without"] and one["without"]["key"]:
            assert one["with"]["key"] != one["without"]["key"], name


@pytest.mark.parametrize("release", record.recorded("online"))
def test_quantized_slots_are_those_of_the_release_that_does_it_itself(release: str) -> None:
    found = record.read("online", release)
    assert found
    assert [one["question"] for one in found if not one["same"]] == []


@pytest.mark.parametrize("release", record.recorded("patches"))
def test_the_plugin_is_found_and_touches_what_it_should_and_nothing_else(release: str) -> None:
    found = record.read("patches", release)
    assert [one["case"] for one in found] == [case.name for case in patches.CASES]
    assert [words for one in found for words in patches.wrong(release, one)] == []


def test_the_page_has_the_tables_of_what_is_recorded() -> None:
    text = table.PAGE.read_text("utf-8")
    assert table.page(text) == text
