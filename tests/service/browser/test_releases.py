"""Releases: the index, the page of one, a model on all of them, an upgrade."""

from playwright.sync_api import Page, expect


def test_from_the_index_to_the_models_of_a_release(page: Page) -> None:
    page.goto("/")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Releases").click()
    page.get_by_role("link", name="0.28.0", exact=True).click()
    page.wait_for_url("**/releases/0.28.0")
    expect(page.get_by_role("region", name="Gate")).to_contain_text("without asking")
    page.get_by_role("link", name="0.29.0").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("vLLM 0.29.0")
    page.get_by_role("link", name="Shipped models on this release").click()
    page.wait_for_url("**/?vllm=0.29.0")


def test_a_footnote_is_found(page: Page) -> None:
    page.goto("/models/org/apart/matrix")
    row = page.get_by_role("row").filter(has_text="0.29.0 to 0.33.0")
    link = row.get_by_role("link", name="note").first
    number = (link.text_content() or "").split()[-1]
    link.click()
    expect(page.locator(f"#note-{number}")).to_contain_text("FP8 ignores routed and shared experts inconsistently")
    expect(page).to_have_url(f"/models/org/apart/matrix#note-{number}")


def test_the_controls_of_a_matrix(page: Page) -> None:
    page.goto("/models/org/fused/matrix")
    page.get_by_text("More options").click()
    page.get_by_label("Environment").fill("VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS=0")
    page.get_by_role("button", name="Check").click()
    page.wait_for_url("**/models/org/fused/matrix?**env=**")
    expect(page.get_by_role("region", name="All releases").get_by_text("y", exact=True)).to_have_count(0)


def test_an_upgrade_from_the_form(page: Page) -> None:
    page.goto("/upgrade")
    page.get_by_label("Model").fill("org/apart")
    page.get_by_label("From vLLM").select_option("0.28.0")
    page.get_by_role("button", name="Compare releases").click()
    page.wait_for_url("**/models/org/apart/upgrade?from=0.28.0&to=0.33.0&gfx=gfx942&tp=8")
    expect(page.locator("#outcome")).to_have_text("Better than before")
    expect(page.get_by_role("article").first).to_contain_text("no longer fused, which went wrong")
    page.get_by_role("link", name="The other way round").click()
    expect(page.locator("#outcome")).to_have_text("Worse than before")
    page.get_by_label("To vLLM").select_option("0.33.0")
    page.get_by_role("button", name="Compare releases").click()
    expect(page.locator("#outcome")).to_have_text("Nothing changes")


def test_from_a_models_page_to_its_upgrade(page: Page) -> None:
    page.goto("/models/org/apart?vllm=0.28.0&gfx=gfx950&tp=2")
    page.get_by_role("link", name="What another release changes").click()
    page.wait_for_url("**/models/org/apart/upgrade?from=0.28.0&to=0.33.0&gfx=gfx950&tp=2")
    page.get_by_role("link", name="0.28.0", exact=True).click()
    page.wait_for_url("**/models/org/apart?vllm=0.28.0&gfx=gfx950&tp=2")
