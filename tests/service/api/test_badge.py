"""`GET /badge/{org}/{name}.svg`: the verdict's words in a picture."""

from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from service import badge
from tests.hub_server import HubServer
from tests.service import headers
from tests.service.browser.models import CONFIGS
from tests.service.clients import MODEL, files, problem

URL = f"/badge/{MODEL}.svg"
SVG = "{http://www.w3.org/2000/svg}"


def words(content: bytes) -> list[str]:
    root = ElementTree.fromstring(content)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == root.get("aria-label")
    return [str(text.text) for text in root.iter(f"{SVG}text")]


def test_the_verdicts_words(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    hub.add("org/dense", files({"architectures": ["Qwen3MoeForCausalLM"], "num_hidden_layers": 2, "num_experts": 8}))
    response = client.get(f"{URL}?tp=8")
    assert response.headers["content-type"] == "image/svg+xml"
    assert response.headers["cache-control"] == "public, max-age=300"
    assert response.headers["cross-origin-resource-policy"] == "cross-origin"
    assert words(response.content) == ["vLLM 0.33.0 gfx942 tp8", "fuses"]
    assert b"fuses, 2 of 2 layers" in response.content
    assert client.get(f"{URL}?tp=8", headers={"If-None-Match": response.headers["etag"]}).status_code == 304
    assert words(client.get(f"{URL}?gfx=gfx90a").content)[1] == "separate"
    assert words(client.get("/badge/org/dense.svg").content)[1] == "not applicable"


def test_what_goes_wrong_is_in_the_badge(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files(CONFIGS["org/apart"]))
    response = client.get(f"{URL}?vllm=0.28.0")
    assert words(response.content) == ["vLLM 0.28.0 gfx942", "breaks"]
    assert b"breaks; error: shared-stored-unlike-routed" in response.content
    report = client.get(f"/v1/models/{MODEL}?vllm=0.33.0").json()
    assert words(badge.of_report(report))[1] == "separate"
    error = client.get(f"/v1/models/{MODEL}?vllm=0.28.0").json()["findings"][0]
    wrong = badge.of_report({**report, "findings": [error]})
    assert words(wrong)[1] == "separate, with errors"
    assert b"#b3261e" in wrong
    warning = badge.of_report({**report, "findings": [{**error, "severity": "warning"}]})
    assert words(warning)[1] == "separate"
    assert b"warning: shared-stored-unlike-routed" in warning


def test_a_badge_may_count_headers(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, headers.checkpoint(headers.plain_shared()))
    hub.add("org/odd", headers.with_a_wrong_index())
    fault = hub.fail("-of-00004.safetensors", delay=1.5)
    first = client.get(f"{URL}?headers=full")
    assert words(first.content) == ["shared experts", "reading headers"]
    assert first.headers["cache-control"] == "public, max-age=10"
    fault.times = 0
    assert client.get(f"/v1/models/{MODEL}?headers=full", headers=headers.WHOLE).status_code == 200
    assert words(client.get(f"{URL}?headers=full").content)[1] == "breaks"
    assert words(client.get(URL).content)[1] == "fuses"
    client.get("/v1/models/org/odd?headers=full", headers=headers.WHOLE)
    assert words(client.get("/badge/org/odd.svg?headers=full").content)[1] == "unknown"


def test_where_there_is_no_report(client: TestClient, hub: HubServer) -> None:
    hub.add("org/gated", files(), gated=True)
    for name, told in (("org/gated", "gated"), ("org/none", "not found")):
        response = client.get(f"/badge/{name}.svg")
        assert response.status_code == 200
        assert response.headers["cache-control"] == "public, max-age=60"
        assert words(response.content) == ["shared experts", told]
    hub.fail("", status=503)
    assert words(client.get("/badge/org/other.svg").content)[1] == "unknown"


def test_a_token_shows_nothing_private(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files(), private=True)
    hub.tokens["hf_reader"] = {MODEL}
    response = client.get(URL, headers={"Authorization": "Bearer hf_reader"})
    assert words(response.content)[1] == "not found"


def test_wrong_parameters(client: TestClient) -> None:
    assert problem(client.get(f"{URL}?tp=x"), 422, "invalid-input")["path"] == "tp"
    problem(client.get("/badge/org/name.png"), 404, "not-found")


@pytest.mark.parametrize("text", ['<script>alert("x")</script>', "a & b", "é" * 50])
def test_no_text_breaks_the_picture(text: str) -> None:
    assert words(badge.draw(text, text, text)) == [text, text]
