"""What holds for every page: accessible in both schemes, fits narrow screens, prints."""

from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.service.browser.conftest import REPORT_VIOLATIONS, Watch

PAGES = {
    "home": "/",
    "home-of-a-release": "/?vllm=0.28.0",
    "search": "/search?q=glm",
    "search-in-vain": "/search?q=no such words",
    "fused": "/models/org/fused?tp=2",
    "separate": "/models/org/apart?ep=true&dp=2",
    "fails": "/models/org/fails",
    "breaks": "/models/org/apart?vllm=0.28.0",
    "at-risk": "/examples/nvidia/DeepSeek-V3-0324-NVFP4?vllm=0.28.0&gfx=gfx942&tp=8",
    "in-vain": "/examples/example/GLM-4.5-FP8-one-layer-ignored?vllm=0.33.0&gfx=gfx942&tp=4",
    "headers": "/models/org/stored?headers=full",
    "headers-unreadable": "/models/org/no-index?headers=full",
    "unknown-release": "/models/org/fused?vllm=0.34.0",
    "not-applicable": "/models/org/dense",
    "undecided": "/models/org/markup",
    "shipped": "/examples/Qwen/Qwen3.8-2.4T-A95B-FP8",
    "made-up": "/examples/example/GLM-4.5-FP8-one-layer-ignored",
    "matrix": "/models/org/apart/matrix",
    "matrix-with-many-notes": "/examples/example/GLM-4.5-MXFP8-shared-excluded/matrix",
    "upgrade": "/upgrade",
    "upgrade-for-the-worse": "/examples/deepseek-ai/DeepSeek-V4-Flash/upgrade?from=0.29.0&to=0.31.0",
    "upgrade-for-the-better": "/models/org/apart/upgrade?from=0.28.0&to=0.33.0",
    "releases": "/releases",
    "release": "/releases/0.33.0",
    "release-without-a-gate": "/releases/0.28.0",
    "no-such-release": "/releases/0.34.0",
    "rules": "/rules",
    "rule": "/rules/FSE101",
    "no-such-rule": "/rules/FSE999",
    "compare": "/compare",
    "compared": "/compare?a=org/fused&b=org/apart&b.gfx=gfx950",
    "playground": "/playground",
    "api": "/api",
    "not-found": "/models/org/nothing-here",
    "gated": "/models/org/gated",
    "no-such-page": "/nowhere",
    "wrong-target": f"/models/org/fused?tp={quote('-1')}",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES.keys())
def test_axe_finds_nothing_serious(browser: Browser, site: str, watch: Watch, axe: str, path: str, scheme: Any) -> None:
    context = browser.new_context(base_url=site, color_scheme=scheme, reduced_motion="reduce")
    context.add_init_script(REPORT_VIOLATIONS)
    watch.over(context)
    page = context.new_page()
    page.goto(path)
    whole(page)
    page.evaluate(axe)
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    context.close()
    assert [_told(one) for one in found["violations"] if one["impact"] in ("serious", "critical")] == []
    assert len(found["passes"]) > 10


def whole(page: Page) -> None:
    """Waits for headers that are being read, which renew the page, opens all that is folded, and waits for the rest."""
    expect(page.get_by_role("progressbar")).to_have_count(0, timeout=20_000)
    for summary in page.locator("details > summary").all():
        summary.click()
    for place in page.locator("[data-lazy]").all():
        place.scroll_into_view_if_needed()
        expect(place.locator("#matrix-body")).to_be_visible(timeout=20_000)


def test_axe_on_headers_that_are_being_read(browser: Browser, site: str, watch: Watch, axe: str) -> None:
    context = browser.new_context(base_url=site, viewport={"width": 320, "height": 700}, reduced_motion="reduce")
    watch.over(context)
    page = context.new_page()
    page.route("**/headers?**", lambda route: route.abort())
    page.goto("/models/org/slow-3?headers=full&tp=8")
    expect(page.get_by_role("progressbar", name="headers")).to_be_visible()
    page.evaluate(axe)
    found = page.evaluate("axe.run()")
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    context.close()
    watch.wrong.clear()  # the stream that was kept from it
    assert [_told(one) for one in found["violations"] if one["impact"] in ("serious", "critical")] == []
    assert not wide


def _told(violation: dict[str, Any]) -> str:
    return f"{violation['id']}: {violation['nodes'][0]['html'][:200]} {violation['nodes'][0]['failureSummary'][:300]}"


def test_axe_on_what_a_bad_config_gives(page: Page, axe: str) -> None:
    page.goto("/playground")
    page.get_by_label("config.json", exact=True).fill("{")
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.evaluate(axe)
    found = page.evaluate("axe.run()")
    assert [_told(one) for one in found["violations"] if one["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_is_wider_than_the_screen(browser: Browser, site: str, watch: Watch, width: int) -> None:
    context = browser.new_context(base_url=site, viewport={"width": width, "height": 700})
    context.add_init_script(REPORT_VIOLATIONS)
    watch.over(context)
    page = context.new_page()
    wide = []
    for path in PAGES.values():
        page.goto(path)
        whole(page)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(path)
    context.close()
    assert wide == []


def test_print_leaves_out_what_paper_cannot_do(page: Page) -> None:
    page.goto("/models/org/apart")
    page.emulate_media(media="print")
    expect(page.locator("#command")).to_be_visible()
    expect(page.locator(".sentence")).to_be_visible()
    for selector in ("aside", ".top", ".copy >> nth=0"):
        expect(page.locator(selector)).to_be_hidden()


def test_the_watch_sees_what_it_is_for(browser: Browser, site: str) -> None:
    watch = Watch(site=site)
    context = browser.new_context(base_url=site)
    context.add_init_script(REPORT_VIOLATIONS)
    watch.over(context)
    page = context.new_page()
    page.goto("/")
    assert watch.wrong == []
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<p style=\"color:red\">x</p><img src=\"/static/none\">')"
    )
    page.evaluate("fetch('http://127.0.0.2:9/').catch(() => null)")
    page.evaluate("setTimeout(() => { throw new Error('thrown') })")
    page.wait_for_timeout(500)
    context.close()
    for sign in ("CSP style-src", "CSP connect-src", "404 for", "thrown"):
        assert any(sign in line for line in watch.wrong), (sign, watch.wrong)
