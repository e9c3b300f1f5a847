"""By keyboard alone, and without JavaScript."""

import json
import re

from playwright.sync_api import Page, expect

from tests.service.browser.models import CONFIGS


def _tab_to(page: Page, selector: str, most: int = 60) -> None:
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"the Tab key does not come to {selector}")


def test_from_the_search_to_the_copied_command(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    _tab_to(page, "#q", 2)
    page.keyboard.type("org/fused")
    page.keyboard.press("Enter")
    page.wait_for_url("**/models/org/fused?gfx=gfx942&tp=8")
    _tab_to(page, "#gfx")
    page.keyboard.type("gfx90a")
    _tab_to(page, "aside button")
    page.keyboard.press("Enter")
    page.wait_for_url("**gfx=gfx90a*")
    _tab_to(page, ".copy")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Copied")).to_be_focused()


def test_the_arrow_keys_walk_along_the_strip(page: Page) -> None:
    page.goto("/models/org/fused")
    _tab_to(page, ".strip a")
    links = page.get_by_role("list", name="Layers in order").get_by_role("link")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("End")
    expect(links.nth(2)).to_be_focused()
    page.keyboard.press("Tab")
    expect(links.nth(0)).not_to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(links.nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url("/models/org/fused#answer-2")


def test_focus_can_be_seen(page: Page) -> None:
    page.goto("/models/org/fused")
    for selector in ("nav a", "#gfx", "aside button", ".strip a", "summary", ".copy"):
        _tab_to(page, selector)
        width = page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)")
        assert width >= 2, selector


def test_without_javascript_every_answer_is_there(plain: Page) -> None:
    plain.goto("/")
    plain.get_by_label("Model on the Hub").fill("org/apart")
    plain.get_by_role("search").get_by_role("button", name="Check").click()
    expect(plain).to_have_url("/models/org/apart?gfx=gfx942&tp=8")
    expect(plain.locator("#verdict")).to_have_text("Separate")
    plain.get_by_text("More options").click()
    plain.locator("#env").fill("VLLM_ROCM_USE_AITER=1\n\nVLLM_ROCM_USE_AITER_MOE=0\n")
    plain.locator("aside").get_by_role("button", name="Check").click()
    expect(plain.locator("#env")).to_have_value("VLLM_ROCM_USE_AITER=1\nVLLM_ROCM_USE_AITER_MOE=0")
    expect(plain.locator("#command")).to_contain_text("VLLM_ROCM_USE_AITER_MOE=0")
    expect(plain.get_by_role("button", name="Copy")).to_have_count(0)


def test_without_javascript_the_playground_and_the_comparison_work(plain: Page) -> None:
    plain.goto("/playground")
    plain.get_by_label("config.json", exact=True).fill(json.dumps(CONFIGS["org/fused"]))
    plain.get_by_role("button", name="Check").click()
    expect(plain.locator("#verdict")).to_have_text("Fuses")
    expect(plain.get_by_role("button", name="Tidy up")).to_have_count(0)
    plain.goto("/compare")
    plain.get_by_label("Model A").fill("org/fused")
    plain.get_by_label("Model B").fill("org/fails")
    plain.get_by_role("button", name="Compare").click()
    expect(plain.locator(".verdict-word")).to_have_text(["Fuses", "Does not start"])


def test_the_notes_of_a_matrix_by_keyboard(page: Page) -> None:
    page.goto("/models/org/apart/matrix")
    _tab_to(page, ".matrix a.chip")
    _tab_to(page, ".notes a")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/models/org/apart/matrix#note-\d+$"))
    page.goto("/?vllm=0.28.0")
    _tab_to(page, "#release")
    page.keyboard.type("0.31.0")
    _tab_to(page, ".release button")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?vllm=0.31.0")


def test_without_javascript_releases_matrix_and_upgrade_work(plain: Page) -> None:
    plain.goto("/")
    plain.get_by_label("vLLM release").select_option("0.28.0")
    plain.get_by_role("button", name="Show").click()
    expect(plain).to_have_url("/?vllm=0.28.0")
    plain.goto("/models/org/apart?vllm=0.28.0")
    expect(plain.get_by_role("article", name="Silently wrong output").first).to_contain_text("What helps")
    plain.get_by_role("link", name="What every vLLM release does with this model").click()
    expect(plain).to_have_url("/models/org/apart/matrix?tp=1")
    expect(plain.get_by_role("row").filter(has_text="0.28.0").get_by_text("breaks").first).to_be_visible()
    plain.goto("/upgrade")
    plain.get_by_label("Model").fill("org/apart")
    plain.get_by_label("From vLLM").select_option("0.28.0")
    plain.get_by_role("button", name="Compare releases").click()
    expect(plain.locator("#outcome")).to_have_text("Better than before")
