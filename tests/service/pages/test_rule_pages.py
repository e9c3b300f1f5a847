"""Pages about rules: the index, and a page for each, of the same text as docs/rules.md."""

import html
import re

import pytest
from starlette.testclient import TestClient

from fse_core.rules.texts import texts
from fse_core.ruletext import RuleText
from service.pages.rules import Block, blocks
from tests.hub_server import HubServer
from tests.service.browser.models import CONFIGS
from tests.service.clients import MODEL, ROOT, files

HTML = {"Accept": "text/html"}
RULES = texts()


def words(client: TestClient, address: str) -> str:
    """The page's words, without its tags."""
    response = client.get(address, headers=HTML)
    assert response.status_code == 200, address
    text = re.sub(r"<head>.*?</head>", " ", response.text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", text)))


def test_the_index_leads_to_every_rule(client: TestClient) -> None:
    found = re.findall(r'href="/rules/([^"]*)"', client.get("/rules", headers=HTML).text)
    assert found == [rule.id for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])
def test_a_rule_is_told_as_on_the_page_of_the_docs(client: TestClient, rule: RuleText) -> None:
    text = words(client, f"/rules/{rule.id}")
    docs = (ROOT / "docs" / "rules.md").read_text("utf-8")
    for paragraph in rule.paragraphs:
        assert re.sub(r"\s+", " ", paragraph.replace("`", "")).strip("- ") in text, paragraph
        if f"## {rule.id} " in docs:
            assert paragraph in docs
    assert f"{rule.id} {rule.name}" in text
    assert rule.severity in text
    assert client.get(f"/v1/rules/{rule.id}").status_code == 200


def test_other_names_lead_there_and_unknown_ones_nowhere(client: TestClient) -> None:
    for name in ("fse101", "shared-stored-unlike-routed"):
        response = client.get(f"/rules/{name}", follow_redirects=False)
        assert (response.status_code, response.headers["location"]) == (303, "/rules/FSE101")
    response = client.get("/rules/FSE999", headers=HTML)
    assert (response.status_code, response.headers["content-type"][:9]) == (404, "text/html")
    assert "There is nothing here" in response.text


def test_pages_are_kept_by_their_tags(client: TestClient) -> None:
    for path in ("/rules", "/rules/FSE101"):
        first = client.get(path)
        again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_a_finding_leads_to_its_rule(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files(CONFIGS["org/apart"]))
    page = client.get(f"/models/{MODEL}?vllm=0.28.0", headers=HTML).text
    report = client.get(f"/v1/models/{MODEL}?vllm=0.28.0").json()
    for finding in report["findings"]:
        assert f'href="/rules/{finding["rule"]}"' in page
        assert client.get(f"/rules/{finding['rule']}").status_code == 200


def test_lists_and_what_is_indented_keep_their_form() -> None:
    text = "One sentence.\n\n- one\n  and more\n- two `a`\n\n    exact  words\n    <b>\n\nand so\non."
    rule = RuleText(id="FSE999", name="a-rule", severity="info", confidence="likely", text=text)
    assert list(blocks(rule)) == [
        Block(kind="list", lines=("one and more", "two `a`")),
        Block(kind="exact", lines=("    exact  words", "    <b>")),
        Block(kind="words", lines=("and so on.",)),
    ]
