"""A model's page with the headers of its files: what it offers, how far the reading is, and what they say."""

import html
import json
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from service.pages.base import _cited
from service.pages.headers_view import stored_of
from tests.hub_server import HubServer
from tests.safetensors_files import file
from tests.service import headers
from tests.service.browser.models import CONFIGS
from tests.service.clients import MODEL, NVFP4, TOKEN, URL, WIDE, files
from tests.service.headers import WHOLE, checkpoint, plain_shared, tensors

HTML = {"Accept": "text/html"}
PAGE = f"/models/{MODEL}"


def shown(client: TestClient, address: str) -> str:
    response = client.get(address, headers=HTML)
    assert response.status_code == 200, response.text[:300]
    return response.text


def test_the_page_offers_headers_and_reads_none_unasked(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, checkpoint(tensors()))
    page = shown(client, f"{PAGE}?tp=2")
    links = [html.unescape(link) for link in re.findall(r'href="([^"]*headers=[^"]*)"', page)]
    assert links == [f"{PAGE}?vllm=0.33.0&gfx=gfx942&tp=2&headers={mode}" for mode in ("sample", "full")]
    assert "follows from the config alone" in page
    assert not any("safetensors" in line for line in hub.asked())
    sent = client.get(f"{PAGE}?tp=2&headers=none", follow_redirects=False)
    assert sent.headers["location"] == f"{PAGE}?tp=2"
    assert "headers=" not in shown(client, "/examples/zai-org/GLM-4.5")


def test_how_far_the_reading_is(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, checkpoint(tensors(), 12))
    fault = hub.fail("-of-00012.safetensors", delay=1.0)
    response = client.get(f"{PAGE}?headers=full", headers=HTML)
    assert response.headers["cache-control"] == "no-store"
    page = response.text
    assert "Fuses" in page
    assert "<progress" in page
    events = html.unescape(re.findall(r'data-follow="([^"]*)"', page)[0])
    assert events == f"/v1{PAGE}/headers?vllm=0.33.0&gfx=gfx942&tp=1&headers=full"
    assert re.findall(r'<a href="([^"]*)">Look again', page)
    assert "http-equiv" not in page
    fault.times = 0
    assert "end" in client.get(events).text
    page = shown(client, f"{PAGE}?headers=full")
    assert "<progress" not in page
    assert "What the files say" in page


def test_what_the_headers_say(client: TestClient, hub: HubServer) -> None:
    commit = hub.add(MODEL, checkpoint(plain_shared())).refs["main"]
    assert client.get(f"{URL}?headers=full", headers=WHOLE).status_code == 200
    page = shown(client, f"{PAGE}?headers=full")
    assert "Breaks" in page
    assert "is-fused" not in page
    badge = html.unescape(re.findall(r'<img src="(/badge/[^"]*)"', page)[0])
    assert ">breaks</text>" in client.get(badge).text
    assert "the headers of 4 safetensors files: all that are loaded" in page
    assert "model.layers.3.mlp.shared_experts.gate_proj.weight" in page
    row = re.compile(r'<tr><th scope="row"><code>([^<]*)</code></th><td>(\w+)</td><td>(\w+)</td><td>([^<]*)</td>')
    rows = {found[1]: found.groups()[1:] for found in row.finditer(page)}
    size = "2,048 \N{MULTIPLICATION SIGN} 256"
    assert rows["model.layers.3.mlp.experts.0.gate_proj.weight"] == ("routed", "F8_E4M3", size)
    assert rows["model.layers.3.mlp.shared_experts.gate_proj.weight"] == ("shared", "BF16", size)
    told = client.get(f"{URL}?headers=full").json()
    for finding in told["findings"]:
        for line in finding["evidence"]:
            assert html.escape(line, quote=False) in re.sub(r"</?a[^>]*>", "", page).replace("&#39;", "'")
    (exact,) = re.findall(r'<a href="([^"]*)">Link to exactly', page)
    assert html.unescape(exact) == f"{PAGE}?revision={commit}&vllm=0.33.0&gfx=gfx942&tp=1&headers=full"
    json_link = html.unescape(re.findall(r'<a href="(/v1/[^"]*)">The same as JSON', page)[0])
    assert client.get(json_link, headers=WHOLE).json()["findings"] == told["findings"]


def test_a_sample_says_which_layers_it_is_of(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, checkpoint(tensors(), 12))
    assert client.get(f"{URL}?headers=sample", headers=WHOLE).status_code == 200
    page = shown(client, f"{PAGE}?headers=sample")
    assert "as many as show one layer of each kind" in page
    assert re.findall(r"How the experts of (layer\w? \S+)", page)


def test_files_without_experts(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, {**files(headers.CONFIG), "model.safetensors": file({"a": ("BF16", (2, 2))}, {"x": 1})})
    assert client.get(f"{URL}?headers=full", headers=WHOLE).status_code == 200
    page = shown(client, f"{PAGE}?headers=full")
    assert "None of these tensors belongs to an expert" in page
    assert "__metadata__ holds what is no text" in page


def test_a_page_takes_no_token(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, checkpoint(tensors()), private=True)
    hub.tokens["hf_reader"] = {MODEL}
    assert client.get(f"{PAGE}?headers=full", headers={**TOKEN, **HTML}).status_code == 404


def test_evidence_is_shown_with_its_places(client: TestClient, hub: HubServer) -> None:
    commit = hub.add(MODEL, files(CONFIGS["org/apart"])).refs["main"]
    page = shown(client, f"{PAGE}?vllm=0.28.0")
    report = client.get(f"{URL}?vllm=0.28.0").json()
    places = [place for finding in report["findings"] for place in finding["places"]]
    assert places
    for place in places:
        assert place["file"] == f"hf://{MODEL}@{commit}/config.json"
        address = f"https://huggingface.co/{MODEL}/blob/{commit}/config.json#L{place['line']}"
        words = f"config.json, line {place['line']}, column {place['column']}"
        assert f'<a href="{address}" rel="noreferrer">{words}</a>: <code>{place["pointer"]}</code>' in page
    shipped = shown(client, "/examples/amd/Kimi-K2.5-MXFP4?vllm=0.28.0&gfx=gfx942&tp=8")
    assert re.findall(r"<li>config.json, line \d+, column \d+: <code>/text_config/", shipped)
    told = client.get("/v1/examples/amd/Kimi-K2.5-MXFP4?vllm=0.28.0&gfx=gfx942&tp=8").json()
    assert {place["file"] for finding in told["findings"] for place in finding["places"]} == {"config.json"}


def test_what_was_pasted_has_places_too(client: TestClient) -> None:
    config = json.dumps(CONFIGS["org/apart"], indent=2)
    page = client.post("/playground", data={"config": config, "vllm": "0.28.0"}).text
    line = 1 + config[: config.index('"model.layers.3.mlp.shared_experts.gate_proj"')].count("\n")
    assert f"<li>config.json, line {line}, column 7: <code>/quantization_config/ignored_layers/0</code></li>" in page
    quant = json.dumps(NVFP4, indent=2)
    page = client.post(
        "/playground", data={"config": json.dumps(WIDE), "hf_quant_config": quant, "vllm": "0.27.0"}
    ).text
    assert "<li>hf_quant_config.json, line " in page
    response = client.post("/playground", data={"config": '{"architectures": ["\\ud800"]}'})
    assert response.status_code in (200, 422)


@pytest.mark.parametrize(
    ("text", "links"),
    [
        (
            "known: read in model_executor/models/hy_v3.py:198 at 0.28.0; else",
            ["v0.28.0/vllm/model_executor/models/hy_v3.py#L198"],
        ),
        ("vllm/config/x.py:1 and y/z.py:22 at 0.33.0", ["v0.33.0/vllm/config/x.py#L1", "v0.33.0/vllm/y/z.py#L22"]),
        ("a/b.py:3 and no release", []),
        ("<a/b.py:3 at 0.33.0>", ["v0.33.0/vllm/a/b.py#L3"]),
    ],
)
def test_lines_of_a_release_are_links(text: str, links: list[str]) -> None:
    made = str(_cited(text))
    assert re.findall(r'href="https://github.com/vllm-project/vllm/blob/([^"]*)"', made) == links
    assert html.unescape(re.sub(r"</?a[^>]*>", "", made)) == text


def test_a_problem_that_a_finding_tells_of_is_not_told_twice() -> None:
    told: dict[str, Any] = {
        "headers": "full", "complete": True, "files": 1, "tensors": 0, "bytes": 8, "layers": [],
        "problems": [{"file": "a", "message": "is odd"}, {"file": "b", "message": "is stray"}],
    }  # fmt: skip
    body = str(told).replace("'", '"').replace("True", "true").encode()
    assert stored_of(body, [{"message": "b is stray. What it holds is lost."}]).problems == ("a is odd",)
