"""The playground, with good and with bad input."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.service.browser.models import CONFIGS

_BAD_BLOCK = {**CONFIGS["org/fused"]["quantization_config"], "weight_block_size": [128, "128"]}


def _check(page: Page, text: str) -> None:
    page.goto("/playground")
    page.get_by_label("config.json", exact=True).fill(text)
    page.get_by_role("button", name="Check").click()


def test_a_good_config(page: Page) -> None:
    _check(page, json.dumps(CONFIGS["org/apart"]))
    expect(page.locator("#verdict")).to_have_text("Separate")
    expect(page.get_by_role("article", name="Layers 3\N{EN DASH}4")).to_contain_text("FP8 ignores routed and shared")
    assert json.loads(page.get_by_label("config.json", exact=True).input_value()) == CONFIGS["org/apart"]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", "config.json", "got nothing"),
        ("{", "config.json", "is not JSON"),
        ("[1]", "config.json", "expected a JSON object, got a list"),
        ('{"a": 1, "a": 2}', "a", "more than once"),
    ],
)
def test_what_is_no_config(page: Page, text: str, place: str, words: str) -> None:
    _check(page, text)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(words)
    expect(alert.locator("code.where")).to_contain_text(place)
    expect(page.get_by_label("config.json", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("config.json", exact=True)).to_have_value(text)


def test_a_wrong_value_is_told_with_its_path(page: Page) -> None:
    _check(page, json.dumps({**CONFIGS["org/fused"], "quantization_config": _BAD_BLOCK}))
    expect(page.locator("#verdict")).to_have_text("Undecided")
    expect(page.get_by_role("heading", name="What is missing").locator("..")).to_contain_text(
        'quantization_config.weight_block_size[1]: expected an integer, got "128"'
    )


@pytest.mark.parametrize("text", [json.dumps(CONFIGS["org/apart"]), "{"], ids=["answer", "mistake"])
def test_what_comes_back_is_in_view_and_is_where_reading_goes_on(plain: Page, text: str) -> None:
    plain.set_viewport_size({"width": 390, "height": 700})
    _check(plain, text)
    expect(plain.locator("#answer")).to_be_focused()
    expect(plain.locator("#verdict, [role=alert] strong").first).to_be_in_viewport(ratio=1)
    # From there the Tab key goes on, not from the top of the page.
    plain.keyboard.press("Tab")
    after = "document.activeElement.compareDocumentPosition(document.getElementById('answer'))"
    assert plain.evaluate(f"{after} & (Node.DOCUMENT_POSITION_PRECEDING | Node.DOCUMENT_POSITION_CONTAINS)")


def test_a_file_goes_into_the_box_and_can_be_tidied(page: Page) -> None:
    page.goto("/playground")
    data = json.dumps(CONFIGS["org/fused"]).encode()
    page.get_by_label("Open a file").set_input_files(
        {"name": "config.json", "mimeType": "application/json", "buffer": data}
    )
    box = page.get_by_label("config.json", exact=True)
    expect(box).to_have_value(data.decode())
    page.get_by_role("button", name="Tidy up").click()
    expect(box).to_have_value(json.dumps(CONFIGS["org/fused"], indent=2))
    box.fill("{")
    page.get_by_role("button", name="Tidy up").click()
    expect(page.get_by_text("This is no JSON")).to_be_visible()


def test_the_target_counts(page: Page) -> None:
    page.goto("/playground?gfx=gfx90a")
    page.get_by_label("config.json", exact=True).fill(json.dumps(CONFIGS["org/fused"]))
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#verdict")).to_have_text("Separate")
    expect(page.get_by_label("GPU")).to_have_value("gfx90a")
