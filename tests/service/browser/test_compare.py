"""Two models, or one on two targets."""

from playwright.sync_api import Page, expect


def _rows(page: Page) -> list[str]:
    cells = page.get_by_role("region", name="Layer by layer").locator("tbody tr")
    return [" ".join(text.split()) for text in cells.all_inner_texts()]


def test_two_models(page: Page) -> None:
    page.goto("/compare")
    page.get_by_label("Model A").fill("org/fused")
    page.get_by_label("Model B").fill("org/apart")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**/compare?a=org%2Ffused*")
    expect(page.get_by_role("heading", name="Verdicts")).to_be_visible()
    said = "FP8 ignores routed and shared experts inconsistently at model.layers"
    first, second, third = _rows(page)
    assert first == "Layers 0\N{EN DASH}2 (3) same no shared expert no shared expert"
    assert second == f"Layers 3\N{EN DASH}4 (2) differs fused separate {said}.3.mlp.shared_experts"
    assert third == f"Draft layer 5 differs fused separate {said}.5.mlp.shared_experts"
    expect(page.get_by_text("None: both are served alike.")).to_be_visible()


def test_one_model_on_two_targets(page: Page) -> None:
    page.goto("/models/org/fused?tp=2")
    page.get_by_role("link", name="Compare with another target or model").click()
    page.get_by_role("group", name="B").get_by_label("GPU").select_option("gfx90a")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**b.gfx=gfx90a*")
    expect(page.get_by_role("region", name="Options that differ").locator("tbody tr")).to_have_text(["gfxgfx942gfx90a"])
    expect(page.get_by_role("link", name="org/fused")).to_have_count(2)


def test_a_side_that_cannot_be_had(page: Page) -> None:
    page.goto("/compare?a=org/fused&b=org/nothing-here")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing here")
    expect(page.get_by_text("org/nothing-here")).to_be_visible()
