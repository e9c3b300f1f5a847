"""Pages as a program sees them: status, headers, addresses, and nothing that runs in them."""

import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from service.pages import base
from tests.hub_server import HubServer
from tests.service.clients import CONFIG, MODEL, TOKEN, files, serving

PAGE = f"/models/{MODEL}"
HTML = {"Accept": "text/html"}


def test_a_page_may_load_nothing_from_elsewhere_and_runs_nothing_written_into_it(
    client: TestClient, hub: HubServer
) -> None:
    hub.add(MODEL, files({**CONFIG, "architectures": ["<script>alert(1)</script>"], "model_type": "'\"><img src=x>"}))
    for path in ("/", PAGE, "/compare", f"/compare?a={MODEL}", "/playground", "/api", "/nowhere"):
        response = client.get(path, headers=HTML)
        assert "default-src 'self'" in response.headers["content-security-policy"], path
        assert "alert(1)" not in re.sub(r"&lt;script&gt;alert\(1\)&lt;/script&gt;", "", response.text), path
        assert re.findall(r"<script(?! type=\"module\" src=\"/static/)", response.text) == [], path
        assert re.findall(r"<style|\sstyle=|\son\w+=|javascript:", response.text) == [], path
        assert re.findall(r"(?:src|<link[^>]*href)=\"(?!/)", response.text) == [], path


def test_a_page_is_kept_by_its_tag_alone(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    first = client.get(PAGE)
    assert first.headers["cache-control"] == "no-cache"
    again = client.get(PAGE, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    # A browser goes on with the policy that came with the page; one in this answer would take its place.
    assert "content-security-policy" in first.headers
    assert "content-security-policy" not in again.headers
    assert client.get(PAGE, headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_page_follows_its_branch(client: TestClient, hub: HubServer) -> None:
    repo = hub.add(MODEL, files())
    assert "Fuses" in client.get(PAGE).text
    repo.push(files({**CONFIG, "quantization_config": {"quant_method": "fp8", "activation_scheme": "static"}}), "other")
    assert "Separate" in client.get(f"{PAGE}?revision=other").text


def test_finished_pages_are_kept_within_bounds(
    client: TestClient, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add(MODEL, files())
    made: list[str] = []

    def counted(request: Request, template: str, context: Mapping[str, Any]) -> bytes:
        made.append(template)
        return base.html(request, template, context)

    monkeypatch.setattr("service.pages.model.html", counted)
    size = len(client.get(f"{PAGE}?tp=1").content)
    monkeypatch.setattr(base._finished[client.app], "_most", 3 * size)
    for tp in (1, 2, 4, 4, 1):
        assert client.get(f"{PAGE}?tp={tp}").status_code == 200
    assert len(made) == 4


def test_what_a_form_sends_is_cleaned(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    sent = f"{PAGE}?vllm=0.33.0&gfx=gfx942&tp=8&dp=1&env=A%3D1%0D%0A%0D%0AB%3D2&quantization_config=&draft="
    response = client.get(sent, follow_redirects=False)
    assert response.status_code == 303
    assert response.headers["location"] == f"{PAGE}?vllm=0.33.0&gfx=gfx942&tp=8&env=A%3D1&env=B%3D2"
    assert client.get(response.headers["location"], follow_redirects=False).status_code == 200


def test_the_spaces_of_a_variable_stay(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    response = client.get(f"{PAGE}?env=A%3D1%20%20%0D%0A%20%20%0D%0AB%3D%20", follow_redirects=False)
    assert response.headers["location"] == f"{PAGE}?env=A%3D1++&env=B%3D+"
    page = client.get(response.headers["location"]).text
    assert _json(client, page)["target"]["env"] == {"A": "1  ", "B": " "}


def _json(client: TestClient, page: str) -> Any:
    """What the page's own link to its JSON gives."""
    return client.get(html.unescape(re.findall(r'<a href="(/v1/[^"]*)">The same as JSON', page)[0])).json()


@pytest.mark.parametrize("query", ["", "dp=1", "tp=1", "ep=false", "gfx=gfx950", "vllm=0.33.0&tp=4", "draft=true"])
@pytest.mark.parametrize("name", ["deepseek-ai/DeepSeek-R1-0528", "zai-org/GLM-4.5", "amd/DeepSeek-R1-MXFP4"])
def test_a_shipped_model_is_shown_for_what_the_api_answers(client: TestClient, name: str, query: str) -> None:
    told = client.get(f"/v1/examples/{name}?{query}").json()
    assert _json(client, client.get(f"/examples/{name}?{query}").text) == told
    assert (told["target"]["tp"] == 8) is (query == "")


@pytest.mark.parametrize(
    ("address", "path"),
    [
        (f"/models/{MODEL}?tp=1&tp=2", "tp"),
        (f"/models/{MODEL}?dp=1&dp=2", "dp"),
        (f"/models/{MODEL}?dp=2&dp=", "dp"),
        (f"/models/{MODEL}?revision=main&revision=other", "revision"),
        (f"/compare?a={MODEL}&a=org/other", "a"),
        (f"/compare?a={MODEL}&b=&b={MODEL}", "b"),
        (f"/compare?a={MODEL}&b.dp=1&b.dp=2", "b.dp"),
        (f"/compare?a={MODEL}&b.quantization_config=%7B%22a%22:1,%22a%22:2%7D", "b.quantization_config: a"),
        ("/examples/zai-org/GLM-4.5?revision=main", "revision"),
    ],
)
def test_page_and_api_refuse_alike(client: TestClient, hub: HubServer, address: str, path: str) -> None:
    hub.add(MODEL, files())
    page, api = client.get(address, headers=HTML), client.get(f"/v1{address}")
    assert (page.status_code, api.status_code) == (422, 422)
    assert api.json()["path"] == path
    assert f'<p class="where"><code>{path}</code></p>' in page.text


def test_a_comparison_s_json_is_that_of_its_page(client: TestClient) -> None:
    page = client.get("/compare?a=example/GLM-4.5-FP8-one-layer-ignored&b=example/DeepSeek-R1-FP8-one-shard-ignored")
    assert page.text.count('<p class="verdict-word">Does not start</p>') == 2
    assert _json(client, page.text)["verdicts"] == {"a": "fails", "b": "fails"}


@pytest.mark.parametrize("path", [f"{PAGE}?plugin=true", f"/compare?a={MODEL}&plugin=true"])
def test_a_form_keeps_the_plugin(client: TestClient, hub: HubServer, path: str) -> None:
    hub.add(MODEL, files())
    boxes = re.findall(r'<input [^>]*name="(?:[ab]\.)?plugin"[^>]*>', client.get(path).text)
    assert len(boxes) == (2 if "compare" in path else 1)
    assert all(' value="true" checked' in box for box in boxes)


def test_the_launch_section_says_that_the_image_needs_the_plugin(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    told = "the image has to have it"
    assert told in client.get(f"{PAGE}?plugin=true").text
    assert told not in client.get(PAGE).text


def test_an_option_for_both_sides_can_be_taken_back_for_one(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    response = client.get(f"/compare?a={MODEL}&ep=true&b.ep=false", follow_redirects=False)
    assert response.status_code == 200
    options = response.text.partition("Options that differ</h2>")[2].partition("</table>")[0]
    assert re.findall(r"<code>(.*?)</code>", options) == ["true", "false"]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/models/org/none", 404, "There is nothing here"),
        ("/models/org/gated", 403, "This model is gated"),
        ("/models/org/name?revision=nowhere", 404, "No such revision"),
        ("/models/org/empty", 404, "The repository has no config.json"),
        ("/models/org/broken", 422, "config cannot be read"),
        ("/models/org/name?tp=0", 422, "That cannot be read"),
        ("/models/org/name?nonsense=1", 422, "No such parameter"),
        ("/models/a--b/..name", 422, "Expected a Hub id"),
        ("/examples/no/such", 404, "There is nothing here"),
        ("/compare?a=name", 422, "Expected a Hub id"),
        ("/compare?a=org/name&b.tp=x", 422, "b.tp"),
        ("/search?q=no+such+words", 404, "No model"),
        ("/static/0/app.css", 404, "No such file."),
    ],
)
def test_errors_are_pages_that_say_what_to_do(
    client: TestClient, hub: HubServer, path: str, status: int, words: str
) -> None:
    hub.add(MODEL, files())
    hub.add("org/gated", files(), gated=True)
    hub.add("org/empty", {"README.md": b""})
    hub.add("org/broken", {"config.json": b"{"})
    response = client.get(path, headers=HTML)
    assert response.status_code == status
    assert response.headers["content-type"].startswith("text/html")
    assert response.headers["cache-control"] == "no-store"
    assert words in response.text


def test_a_hub_that_is_away_or_asks_to_wait(client: TestClient, hub: HubServer) -> None:
    hub.fail("GET /api/models/org/away", status=503, times=None)
    assert client.get("/models/org/away", headers=HTML).status_code in (502, 503)
    hub.fail("GET /api/models/org/busy", status=429, headers={"Retry-After": "7"}, times=None)
    response = client.get("/models/org/busy", headers=HTML)
    assert response.status_code == 503
    assert "The Hub asks us to slow down" in response.text
    assert int(response.headers["retry-after"]) > 0


def test_a_shipped_model_is_shown_where_the_hub_is_of_no_help(client: TestClient, hub: HubServer) -> None:
    hub.fail("GET /api/models/", status=503, times=None)
    response = client.get("/models/deepseek-ai/DeepSeek-R1-0528?tp=8")
    assert response.status_code == 200
    assert 'role="status"' in response.text
    assert response.headers["cache-control"] == "no-store"


def test_a_page_takes_no_token(client: TestClient, hub: HubServer) -> None:
    hub.add("org/gated", files(), gated=True)
    hub.tokens["hf_reader"] = {"org/gated"}
    assert client.get("/models/org/gated", headers={**TOKEN, **HTML}).status_code == 403


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"config": json.dumps(CONFIG), "tp": "2"}, 200, "fuses the shared expert in all 2 MoE layers"),
        ({"config": json.dumps(CONFIG), "tp": "none"}, 422, "tp"),
        ({"config": json.dumps(CONFIG), "hf_quant_config": "{"}, 422, "hf_quant_config.json"),
        ({"config": "[" * 100_000}, 422, "config.json"),
        ({"config": json.dumps({"architectures": 1})}, 200, "architectures: expected a list"),
        ({}, 200, "Paste a config.json"),
        ({"config": ["{}", "{}"]}, 422, "expected a form"),
    ],
)
def test_the_playground(client: TestClient, body: dict[str, Any], status: int, words: str) -> None:
    response = client.post("/playground", data=body)
    assert response.status_code == status
    assert words in response.text


@pytest.mark.parametrize("body", [b"config=%ff", b"\xff", b"&".join(b"a=1" for _ in range(200))])
def test_the_playground_refuses_what_is_no_form_of_its_own(client: TestClient, body: bytes) -> None:
    response = client.post("/playground", content=body)
    assert response.status_code == 422
    assert "expected a form" in response.text


@pytest.mark.parametrize(
    ("changed", "status"), [({"body_most": 200}, 413), ({"rate": 1}, 429), ({"check_seconds": 0.0001}, 503)]
)
def test_the_playground_has_the_limits_of_the_api(tmp_path: Path, changed: dict[str, Any], status: int) -> None:
    with serving(tmp_path, **changed) as client:
        for _ in range(2):
            page = client.post("/playground", data={"config": json.dumps(CONFIG)}, headers=HTML)
        assert page.status_code == status
        assert page.headers["content-type"].startswith("text/html")
        assert client.post("/v1/check", json={"config": CONFIG}).status_code == status


def test_a_method_that_a_page_does_not_take(client: TestClient) -> None:
    response = client.delete("/playground", headers=HTML)
    assert (response.status_code, response.headers["content-type"][:9]) == (405, "text/html")
    assert response.headers["allow"]


def test_a_file_under_static_is_kept_for_ever(client: TestClient) -> None:
    address = re.findall(r'href="(/static/[^"]*app\.css)"', client.get("/").text)[0]
    response = client.get(address)
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert response.headers["content-type"].startswith("text/css")
    again = client.get(address, headers={"If-None-Match": response.headers["etag"]})
    assert again.status_code == 304
    assert client.get("/favicon.ico").headers["content-type"] == "image/svg+xml"


def test_the_api_page_names_addresses_that_there_are(client: TestClient) -> None:
    text = client.get("/api").text
    described = set(client.get("/openapi.json").json()["paths"])
    named = set(re.findall(r'<span class="method">\w+</span> <code>([^<]*)</code>', text))
    assert named
    assert named <= described


def test_every_shipped_model_has_its_row_and_its_page(client: TestClient) -> None:
    home = client.get("/").text
    listed = client.get("/v1/examples").json()["examples"]
    assert len(listed) > 15
    for example in listed:
        page = client.get(f"/examples/{example['name']}")
        assert page.status_code == 200, example
        assert f"/examples/{example['name']}?vllm=0.33.0" in home
