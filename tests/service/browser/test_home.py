"""The home page and the search."""

from playwright.sync_api import Page, expect


def test_a_name_leads_to_its_page(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Model on the Hub").fill("org/fused")
    page.get_by_role("search").get_by_label("GPU").select_option("gfx950")
    page.get_by_role("search").get_by_role("button", name="Check").click()
    page.wait_for_url("**/models/org/fused?gfx=gfx950&tp=8")  # the newest release need not be named
    expect(page.get_by_role("heading", level=1)).to_have_text("fused")


def test_a_revision_may_follow_the_name(page: Page) -> None:
    page.goto("/search?q=org/fused@nowhere")
    expect(page).to_have_url("/models/org/fused?revision=nowhere")
    expect(page.get_by_role("heading", level=1)).to_have_text("No such revision")


def test_words_find_shipped_models(page: Page) -> None:
    page.goto("/search?q=glm-4.5")
    expect(page.get_by_role("link", name="zai-org/GLM-4.5 on gfx942: fuses")).to_be_visible()
    expect(page.get_by_role("link", name="Kimi")).to_have_count(0)


def test_an_address_of_the_hub_is_no_name_but_is_understood(page: Page) -> None:
    page.goto("/search?q=https://huggingface.co/org/fused/tree/main")
    page.get_by_role("link", name="Check org/fused").click()
    page.wait_for_url("**/models/org/fused")


def test_the_table_shows_each_shipped_model_on_both_gpus(page: Page) -> None:
    page.goto("/")
    row = page.get_by_role("row").filter(has_text="DeepSeek-R1-0528")
    expect(row.get_by_role("link")).to_have_count(2)
    row.get_by_role("link").first.click()
    page.wait_for_url("**/examples/deepseek-ai/DeepSeek-R1-0528?vllm=0.33.0&gfx=gfx942&tp=8")
    expect(page.locator("#verdict")).to_have_text("Fuses")


def test_the_filter_leaves_what_matches(page: Page) -> None:
    page.goto("/")
    rows = page.locator("#models tbody tr:visible")
    before = rows.count()
    page.get_by_label("Filter").fill("kimi")
    expect(rows).to_have_count(3)
    page.get_by_label("Filter").fill("nothing like it")
    expect(rows).to_have_count(0)
    expect(page.get_by_text("No model matches.").first).to_be_visible()
    page.get_by_label("Filter").fill("")
    expect(rows).to_have_count(before)


def test_the_table_is_for_the_release_that_is_chosen(page: Page) -> None:
    page.goto("/")
    page.get_by_label("vLLM release").select_option("0.28.0")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**/?vllm=0.28.0")
    row = page.get_by_role("row").filter(has_text="Kimi-K2.5").filter(has_text="moonshotai")
    expect(row.get_by_role("link").first).to_have_accessible_name("moonshotai/Kimi-K2.5 on gfx942: breaks")
    row.get_by_role("link").first.click()
    page.wait_for_url("**/examples/moonshotai/Kimi-K2.5?vllm=0.28.0&gfx=gfx942&tp=8")
    expect(page.locator("#verdict")).to_have_text("Breaks")


def test_the_search_keeps_the_release(page: Page) -> None:
    page.goto("/?vllm=0.28.0")
    page.get_by_label("Model on the Hub").fill("org/apart")
    page.get_by_role("search").get_by_role("button", name="Check").click()
    page.wait_for_url("**/models/org/apart?vllm=0.28.0&gfx=gfx942&tp=8")
    expect(page.locator("#verdict")).to_have_text("Breaks")
