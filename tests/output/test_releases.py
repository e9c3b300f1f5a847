"""Known releases as text, the page that is made of them, and `fse.releases/1`."""

import json
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from fse_core import releases
from fse_core.output import Style, find, names
from fse_core.releases.delta import deltas
from fse_core.releases.history import Entry, history
from fse_core.releases.release import Fault
from tests.output.schemas import validator

PAGE = Path(__file__).resolve().parents[2] / "docs" / "releases.md"
VALIDATOR = validator("releases")
LATEST = releases.load("latest")
FAULT = Fault(
    text="Slots | are not filled.", source="models/a.py:3", classes=frozenset({"BForCausalLM", "AForCausalLM"})
)
MADE = replace(
    LATEST,
    version="0.99.0",
    changes=("A made-up thing changed.",),
    wired=(LATEST.wired - {"AliceAIForCausalLM"}) | {"NewForCausalLM"},
    fusing_gfx=frozenset({"gfx950", "gfx1250"}),
    faults={"slots_unfilled": FAULT},
)
ENTRY = Entry(release=MADE, before=LATEST)


def written(format: str, *entries: Entry, style: Style | None = None) -> str:
    return find(format, "releases").render(entries, style or Style())


def test_the_formats() -> None:
    assert names("releases") == ["json", "markdown", "table"]
    assert all(find(name, "releases").summary for name in names("releases"))


def test_the_page_is_what_the_data_say() -> None:
    assert PAGE.read_text("utf-8") == written("markdown", *history()), "run: make docs"


def test_the_page_has_a_row_and_a_section_for_each_release_and_its_links_lead_there() -> None:
    page = PAGE.read_text("utf-8")
    sections = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert sections == list(reversed(releases.known()))
    links = re.findall(r"^\| \[(.*)\]\(#(.*)\) \|", page, re.MULTILINE)
    assert [name for name, _ in links] == list(releases.known())
    assert [anchor for _, anchor in links] == [name.replace(".", "") for name in releases.known()]


def test_every_sentence_of_every_release_is_on_the_page() -> None:
    page = PAGE.read_text("utf-8").replace("\\", "")
    for name in releases.known():
        release = releases.load(name)
        assert all(sentence in page for sentence in (*release.changes, *(one.text for one in release.faults.values())))


def test_a_release_that_is_made_up_is_on_the_page_with_what_differs() -> None:
    text = written("markdown", *history(), ENTRY)
    section = text.partition("## 0.99.0\n")[2].partition("\n## ")[0]
    assert (
        section
        == """
- A made-up thing changed.
- classes that fuse: + NewForCausalLM; - AliceAIForCausalLM
- GPUs with AITER: - gfx942

Known faults:

- slots\\_unfilled: Slots \\| are not filled. (AForCausalLM, BForCausalLM) \\[models/a.py:3\\]
"""
    )
    assert "| [0.99.0](#0990) | 44 | `online`, `mega_moe`, " in text
    assert "| off | gfx950, gfx1250 | 1 |" in text


def test_all_releases_have_a_line_each() -> None:
    lines = written("table", *history()).splitlines()
    assert [line.split()[0] for line in lines if re.match(r"\d", line)] == list(releases.known())
    first = next(line for line in lines if line.startswith("0.11.1 "))
    assert first.split() == ["0.11.1", "9", "none", "on", str(len(releases.load("0.11.1").faults)),
                             "gfx90a,", "gfx942,", "gfx950"]  # fmt: skip
    assert "          Fusion is off by default." in lines


def test_a_line_tells_what_joined_and_left() -> None:
    text = written("table", *history(["0.33.0"]), ENTRY)
    assert (
        "0.99.0    44       6 questions   off      1       gfx950, gfx1250\n          A made-up thing changed.\n"
        in text
    )
    assert "          + NewForCausalLM\n          - AliceAIForCausalLM\n" in text


def test_one_release_is_told_in_full() -> None:
    text = written("table", ENTRY)
    assert text.startswith("vLLM 0.99.0\n\n  what changed:\n    A made-up thing changed.\n\n  known faults:\n")
    for name in (*MADE.wired, *MADE.environment, *MADE.branches):
        assert name in text
    assert "    Slots | are not filled. (AForCausalLM, BForCausalLM)" in text.replace("slots_unfilled: ", "")
    assert "--moe-backend:\n" in text
    assert max(map(len, written("table", ENTRY, style=Style(width=72)).splitlines())) <= 72


def test_a_release_without_a_gate_says_so() -> None:
    assert "  gate:\n    none: it fuses without asking\n" in written("table", *history(["0.28.0"]))
    assert "nothing is known that bears on fusion" in written("table", *history(["0.28.0"]))


def test_the_schema_holds_every_release() -> None:
    schema = json.loads(resources.files("fse_core").joinpath("schema/releases-1.schema.json").read_text("utf-8"))
    text = written("json", *history(), ENTRY)
    assert text.isascii()
    whole = json.loads(text)
    VALIDATOR.validate(whole)
    assert list(whole) == list(schema["properties"])
    assert [one["vllm"] for one in whole["releases"]] == [*releases.known(), "0.99.0"]
    made = whole["releases"][-1]
    assert set(made) == set(schema["$defs"]["release"]["properties"])
    assert set(made["faults"][0]) == set(schema["$defs"]["fault"]["properties"])
    assert (made["before"], made["gated"], made["fusion_default"]) == (releases.known()[-1], True, False)
    first = whole["releases"][0]
    assert (first["before"], first["gated"], first["fusion_default"]) == (None, False, True)


@pytest.mark.parametrize("change", [{"schema": "fse.releases/2"}, {"releases": [{"vllm": "0.1.0"}]}])
def test_the_schema_refuses_what_must_not_be(change: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(json.loads(written("json", ENTRY)) | change)


def test_deltas_add_up_to_the_whole() -> None:
    assert list(deltas(LATEST, LATEST)) == []
    from_nothing = {delta.name: set(delta.added) for delta in deltas(None, LATEST)}
    built: dict[str, set[str]] = {}
    for entry in history():
        for delta in deltas(entry.before, entry.release):
            members = built.setdefault(delta.name, set())
            assert members >= set(delta.removed)
            assert not members & set(delta.added)
            built[delta.name] = (members - set(delta.removed)) | set(delta.added)
    assert {name: members for name, members in built.items() if members} == from_nothing


def test_history_takes_what_is_asked_in_order() -> None:
    found = history(["0.33.0", "v0.24.0", "latest"])
    assert [entry.release.version for entry in found] == ["0.24.0", "0.33.0"]
    assert [entry.before and entry.before.version for entry in found] == ["0.23.0", "0.32.0"]
    assert history(["0.11.1"])[0].before is None
