"""Rules as they are listed and explained, and the page that is made of them."""

import json
from pathlib import Path

import pytest

from fse_core.output import Style, find, names
from fse_core.rules.texts import texts
from tests.output.schemas import validator

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_what_explain_says() -> None:
    page = (ROOT / "docs" / "rules.md").read_text("utf-8")
    assert page == find("markdown", "explain").render(texts(), Style()), "make docs writes it anew"


@pytest.mark.parametrize("what", ["rules", "explain"])
def test_each_format_names_every_rule(what: str) -> None:
    for name in names(what):
        written = find(name, what).render(texts(), Style(width=80))
        assert all(f"{rule.id}" in written and rule.name in written for rule in texts())


@pytest.mark.parametrize("what", ["rules", "explain"])
def test_json_keeps_to_the_schema(what: str) -> None:
    found = json.loads(find("json", what).render(texts(), Style()))
    validator("rules").validate(found)
    for key in found:
        assert not validator("rules").is_valid({name: value for name, value in found.items() if name != key})


def test_the_same_text_in_every_format() -> None:
    (rule,) = (one for one in texts() if one.id == "FSE114")
    text, markdown = (find(name, "explain").render([rule], Style()) for name in ("text", "markdown"))
    (found,) = json.loads(find("json", "explain").render([rule], Style()))["rules"]
    assert len(rule.paragraphs) >= 3
    for paragraph in rule.paragraphs:
        assert paragraph in text
        assert paragraph in markdown
        assert paragraph in found["text"]


def test_every_rule_begins_with_one_sentence() -> None:
    for rule in texts():
        assert rule.summary.endswith("."), rule.id
        assert len(rule.summary) <= 160, rule.id
        assert len(rule.paragraphs) >= 2, rule.id
