"""A model's page."""

import re

import pytest
from playwright.sync_api import Page, expect

from fse_core import releases


def test_the_verdict_is_one_sentence(page: Page) -> None:
    page.goto("/models/org/fused?tp=2")
    expect(page.locator(".sentence")).to_have_text(
        "vLLM 0.33.0 fuses the shared expert in all 2 MoE layers and in the draft layer on gfx942 with tp 2."
    )


def test_every_layer_is_in_the_strip(page: Page) -> None:
    page.goto("/models/org/fused")
    runs = page.get_by_role("list", name="Layers in order").get_by_role("link")
    expect(runs).to_have_text(
        ["Layers 0\N{EN DASH}2: no shared expert012", "Layers 3\N{EN DASH}4: fused34", "Draft layer 5: fusedD5"],
        use_inner_text=False,
    )
    runs.nth(1).locator("i").last.click()
    expect(page).to_have_url("/models/org/fused#answer-1")


def test_reasons_are_explained_beside_the_words_of_the_release(page: Page) -> None:
    page.goto("/models/org/apart")
    answer = page.get_by_role("article", name="Layers 3\N{EN DASH}4")
    expect(answer).to_contain_text("Two formats cannot share one grouped GEMM")
    expect(answer).to_contain_text("Quantize both or neither")
    expect(answer.get_by_role("blockquote")).to_have_text(
        "FP8 ignores routed and shared experts inconsistently at model.layers.3.mlp.shared_experts"
    )


def test_a_model_that_does_not_start_says_why(page: Page) -> None:
    page.goto("/models/org/fails")
    expect(page.locator("#verdict")).to_have_text("Does not start")
    expect(page.get_by_role("article", name="Layer 3")).to_contain_text("Detected some but not all shards of")
    expect(page.get_by_role("article", name="Layer 4")).to_contain_text("stops before it has decided")


@pytest.mark.parametrize(
    ("name", "word"), [("dense", "Nothing to fuse"), ("unknown", "Undecided"), ("markup", "Undecided")]
)
def test_other_verdicts(page: Page, name: str, word: str) -> None:
    page.goto(f"/models/org/{name}")
    expect(page.locator("#verdict")).to_have_text(word)


def test_the_bytes_of_the_slots_are_told_with_how(page: Page) -> None:
    page.goto("/models/org/fused?tp=2")
    expect(page.locator(".figures")).to_contain_text("768.2 KiB")
    page.get_by_text("How this was computed").click()
    # Three matrices of 256 by 512 bytes, each with 8 scales of 4 bytes, in two layers.
    expect(page.get_by_text("that is 786,624 bytes")).to_be_visible()


def test_the_table_lists_every_layer(page: Page) -> None:
    page.goto("/models/org/fused")
    page.get_by_text("All 3 layers with a shared expert").click()
    rows = page.get_by_role("region", name="All layers").get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.last).to_contain_text("draft 5")


CONTROLS = [
    ("gfx", "gfx90a", "Separate"),
    ("vllm", "0.28.0", "Fuses"),
    ("tp", "4", "Fuses"),
    ("ep", "true", "Fuses"),
    ("dp", "2", "Fuses"),
    ("pp", "2", "Fuses"),
    ("pcp", "2", "Fuses"),
    ("moe_backend", "triton", "Fuses"),
    ("all2all_backend", "mori_high_throughput", "Fuses"),
    ("eplb", "true", "Fuses"),
    ("dbo", "true", "Fuses"),
    ("draft", "false", "Fuses"),
    ("env", "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS=0", "Separate"),
    ("quantization_config", '{"targets": {"*shared_experts*": "mxfp4"}}', "Separate"),
]


@pytest.mark.parametrize(("control", "value", "word"), CONTROLS, ids=[control[0] for control in CONTROLS])
def test_each_control_changes_the_address_and_the_answer(page: Page, control: str, value: str, word: str) -> None:
    page.goto("/models/org/fused?tp=2")
    page.get_by_text("More options").click()
    field = page.locator(f"#{control}")
    match field.evaluate("element => element.type"):
        case "checkbox":
            field.check()
        case "select-one":
            field.select_option(value)
        case _:
            field.fill(value)
    page.get_by_role("button", name="Check").click()
    page.wait_for_url(lambda url: f"{control}=" in url)
    expect(page.locator("#verdict")).to_have_text(word)
    again = page.url
    page.goto("/")
    page.goto(again)
    shown = field.evaluate("element => element.type === 'checkbox' ? String(element.checked) : element.value")
    assert shown == value


def test_the_release_control_offers_what_is_known(page: Page) -> None:
    page.goto("/models/org/fused")
    expect(page.get_by_label("vLLM release").locator("option")).to_have_text([*reversed(releases.known())])


def test_a_finding_tells_what_breaks_and_what_helps(page: Page) -> None:
    page.goto("/models/org/apart?vllm=0.28.0")
    expect(page.locator("#verdict")).to_have_text("Breaks")
    runs = page.get_by_role("list", name="Layers in order").get_by_role("link")
    expect(runs.nth(1)).to_contain_text("breaks")
    finding = page.get_by_role("article", name="Silently wrong output").first
    expect(finding).to_contain_text("fuses them without asking")
    expect(finding).to_contain_text("quantization_config.ignored_layers")
    finding.get_by_role("button", name="Copy").click()
    assert page.evaluate("navigator.clipboard.readText()") == "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS=0"
    finding.get_by_role("link", name=re.compile("^Check with this ?: use vLLM")).click()
    page.wait_for_url("**vllm=0.29.0*")
    expect(page.locator("#verdict")).to_have_text("Separate")


def test_the_matrix_comes_when_it_is_near(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/models/org/apart?vllm=0.28.0&gfx=gfx942&tp=2")
    page.wait_for_load_state("networkidle")
    assert not any("/matrix" in url for url in asked)
    page.locator("#matrix").scroll_into_view_if_needed()
    table = page.get_by_role("region", name="All releases").get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(["vLLM", "gfx942", "gfx950"])
    row = table.get_by_role("row").filter(has_text="0.29.0 to 0.33.0")
    row.get_by_role("link", name=re.compile(r"^n ?: does not fuse")).first.click()
    page.wait_for_url("**/models/org/apart?vllm=0.33.0&gfx=gfx942&tp=2")


def test_the_link_stays_where_the_matrix_does_not_come(page: Page) -> None:
    page.route("**/matrix?**", lambda route: route.fulfill(status=200, content_type="text/html", body="<p>no</p>"))
    page.goto("/models/org/apart")
    page.locator("#matrix").scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    expect(page.get_by_role("link", name="What every vLLM release does with this model")).to_be_visible()
    expect(page.locator("#matrix-body")).to_have_count(0)


def test_the_permalink_names_the_commit(page: Page) -> None:
    page.goto("/models/org/fused?tp=2&ep=true")
    page.get_by_role("link", name="Link to exactly this answer").click()
    page.wait_for_url("**/models/org/fused?revision=*&vllm=0.33.0&gfx=gfx942&tp=2&ep=true")
    expect(page.locator("#verdict")).to_have_text("Fuses")


def test_the_launch_command_is_copied(page: Page) -> None:
    page.goto("/models/org/fused?tp=2&ep=true&env=VLLM_ROCM_USE_AITER_MOE=true")
    page.get_by_role("button", name="Copy the launch command").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    commit = re.search(r"--revision ([0-9a-f]{40})", copied)
    assert commit is not None
    assert copied == (
        "VLLM_ROCM_USE_AITER=1 \\\n"
        "VLLM_ROCM_USE_AITER_MOE=true \\\n"
        "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS=1 \\\n"
        "vllm serve org/fused \\\n"
        f"  --revision {commit[1]} \\\n"
        "  --tensor-parallel-size 2 \\\n"
        "  --enable-expert-parallel"
    )
