"""`GET /badge/{org}/{name}.svg`: the verdict's words in a picture."""

from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from service import badge
from tests.hub_server import HubServer
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
