"""The headers of a model's files: asked for, followed as they are read, and counted."""

import re

from playwright.sync_api import Page, expect

COUNTED = "The headers were read, and the answer counts them."


def test_from_the_config_to_the_headers(page: Page) -> None:
    page.goto("/models/org/stored?tp=2")
    expect(page.locator("#verdict")).to_have_text("Fuses")
    page.get_by_role("link", name="read all").click()
    page.wait_for_url("**/models/org/stored?vllm=0.33.0&gfx=gfx942&tp=2&headers=full")
    expect(page.locator("#verdict")).to_have_text("Breaks", timeout=20_000)
    expect(page.get_by_role("heading", name="What the files say")).to_be_visible()
    page.get_by_text("How the experts of layers 3").click()
    table = page.get_by_role("region", name="Tensors of layers 3")
    expect(table.get_by_role("row").filter(has_text="3.mlp.shared_experts.gate_proj.weight")).to_contain_text("BF16")
    page.get_by_role("link", name="Link to exactly this answer").click()
    expect(page.get_by_label("Evidence")).to_have_value("full")


def test_the_reading_is_followed_until_the_answer_counts_it(page: Page) -> None:
    page.goto("/models/org/slow-0?headers=full")
    expect(page.locator("#verdict")).to_have_text("Fuses")
    bar = page.get_by_role("progressbar", name="the headers")
    expect(bar).to_be_visible()
    expect(page.locator("#reading")).to_have_text("Reading the headers")
    expect(page.locator("[data-files]")).to_have_text(re.compile(r"^[1-9]\d? of 16 files$"), timeout=20_000)
    assert bar.evaluate("bar => bar.value / bar.max") > 0
    expect(page.locator("#verdict")).to_have_text("Breaks", timeout=20_000)
    expect(bar).to_have_count(0)
    expect(page.locator("#news")).to_have_text(COUNTED)
    expect(page).to_have_title(re.compile("breaks"))
    # What came later is as convenient as what was there.
    page.get_by_role("button", name="Copy the launch command").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    page.locator("#matrix").scroll_into_view_if_needed()
    expect(page.locator("#matrix-body")).to_be_visible()


def test_a_form_that_is_being_filled_stays(page: Page) -> None:
    page.goto("/models/org/slow-1?headers=full&tp=4")
    page.get_by_label("Tensor parallel").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("2")
    expect(page.locator("#news")).to_have_text(re.compile("look again"), timeout=20_000)
    expect(page.get_by_label("Tensor parallel")).to_have_value("2")
    page.get_by_role("link", name="Look again").click()
    expect(page.get_by_role("heading", name="What the files say")).to_be_visible()


def test_without_javascript_it_is_looked_at_again(plain: Page) -> None:
    plain.goto("/models/org/slow-2?headers=full&dp=2")
    expect(plain.get_by_role("progressbar")).to_be_visible()
    for _ in range(40):
        if plain.get_by_role("link", name="Look again").count() == 0:
            break
        plain.wait_for_timeout(300)
        plain.get_by_role("link", name="Look again").click()
    expect(plain.get_by_role("heading", name="What the files say")).to_be_visible()


def test_the_control_asks_for_headers(page: Page) -> None:
    page.goto("/models/org/stored?tp=4")
    page.get_by_label("Evidence").select_option("sample")
    page.get_by_role("button", name="Check").click()
    page.wait_for_url("**headers=sample**")
    expect(page.get_by_text("as many as show one layer of each kind")).to_be_visible(timeout=20_000)
    page.get_by_label("Evidence").select_option("none")
    page.get_by_role("button", name="Check").click()
    page.wait_for_url(re.compile(r"/models/org/stored\?(?!.*headers)"))


def test_headers_that_cannot_be_had(page: Page) -> None:
    page.goto("/models/org/no-index?headers=full")
    expect(page.get_by_text("The headers could not be read")).to_be_visible(timeout=20_000)
    expect(page.locator("#verdict")).to_have_text("Fuses")
    expect(page.get_by_role("link", name="Try again")).to_be_visible()
