"""Rules: the index, the page of one, and the way there from a finding."""

from playwright.sync_api import Page, expect

from fse_core.rules.texts import texts


def test_from_the_index_to_a_rule_and_on(page: Page) -> None:
    page.goto("/")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Rules").click()
    rows = page.get_by_role("region", name="Rules").get_by_role("row")
    expect(rows).to_have_count(len(texts()) + 1)
    page.get_by_role("link", name="FSE103").click()
    page.wait_for_url("**/rules/FSE103")
    expect(page.get_by_role("heading", level=1)).to_have_text("FSE103 gate-accepts-what-breaks")
    expect(page.get_by_role("article")).to_contain_text("The gate says yes although")
    expect(page.get_by_role("article").locator("code").first).to_have_text("re:")
    page.get_by_role("link", name="the rule before").click()
    expect(page.get_by_role("heading", level=1)).not_to_contain_text("FSE103")
    page.get_by_role("link", name="the rule after").click()
    page.wait_for_url("**/rules/FSE103")


def test_from_a_finding_to_its_rule(plain: Page) -> None:
    plain.goto("/models/org/apart?vllm=0.28.0")
    plain.get_by_role("link", name="FSE101 shared-stored-unlike-routed").first.click()
    plain.wait_for_url("**/rules/FSE101")
    expect(plain.get_by_role("heading", level=1)).to_have_text("FSE101 shared-stored-unlike-routed")


def test_by_keyboard(page: Page) -> None:
    page.goto("/rules/FSE101")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Rules", exact=True).last).to_be_focused()
