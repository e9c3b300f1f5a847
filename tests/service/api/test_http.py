"""What holds for every address: headers, limits, unknown addresses, failures, the document, the numbers."""

import json
import re
from collections import Counter
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from service.limits import Limited
from service.logs import without_secrets
from service.problems import KINDS, Problem
from service.reports import Reports
from tests.hub_server import HubServer
from tests.service.clients import MODEL, URL, files, problem, serving
from tests.service.processes import service


def test_data_may_load_nothing(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    for url in (URL, "/v1/examples", "/v1/models/a/b?tp=x", "/v1/nowhere", "/livez", "/openapi.json"):
        headers = client.get(url).headers
        assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert headers["x-content-type-options"] == "nosniff"
        assert re.fullmatch(r"[0-9a-f]{16}", headers["x-request-id"])
        assert "server" not in headers


def test_pages_may_load_what_is_here(client: TestClient) -> None:
    policy = client.get("/static/nothing.html", headers={"Accept": "text/html"}).headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_https_is_kept_to_where_it_is_used(tmp_path: Path) -> None:
    with serving(tmp_path, public_url="https://fse.example") as client:
        assert client.get("/livez").headers["strict-transport-security"] == "max-age=31536000"
    with serving(tmp_path) as client:
        assert "strict-transport-security" not in client.get("/livez").headers


def test_unknown_addresses_and_methods(client: TestClient) -> None:
    problem(client.get("/v1/nowhere"), 404, "not-found")
    problem(client.get("/v1/models/only-one"), 404, "not-found")
    response = client.post("/v1/models/a/b")
    problem(response, 405, "method-not-allowed")
    assert "GET" in response.headers["allow"]
    problem(client.get("/v1/check"), 405, "method-not-allowed")


@pytest.mark.parametrize("name", KINDS)
def test_every_type_has_its_page(client: TestClient, name: str) -> None:
    response = client.get(f"/problems/{name}")
    assert response.status_code == 200
    assert KINDS[name].meaning in response.text
    problem(client.get("/problems/none"), 404, "not-found")


def test_a_fault_of_ours_is_told_without_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("the inner workings, with hf_secretsecret")

    monkeypatch.setattr(Reports, "answer", broken)
    with serving(tmp_path) as client:
        response = client.get(URL)
    told = problem(response, 500, "internal-error")
    assert response.headers["x-request-id"] in told["detail"]
    assert "inner workings" not in response.text
    assert response.headers["content-security-policy"]
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines() if line.startswith("{")]
    failed = next(line for line in lines if line["event"] == "failed")
    assert failed["id"] == response.headers["x-request-id"]
    assert "RuntimeError" in failed["exception"]
    assert "hf_secret" not in json.dumps(failed)


def test_the_rate_of_one_client(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, files())
    with serving(tmp_path, rate=3, trust_forwarded=True) as client:
        answers = [client.get(URL, headers={"X-Forwarded-For": "6.6.6.6, 1.2.3.4"}) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        problem(answers[3], 429, "rate-limited")
        assert 1 <= int(answers[3].headers["retry-after"]) <= 60
        assert answers[0].headers["ratelimit-policy"] == '"client";q=3;w=60'
        assert [answer.headers["ratelimit"].partition(";t=")[0] for answer in answers[:3]] == [
            f'"client";r={left}' for left in (2, 1, 0)
        ]
        assert client.get(URL, headers={"X-Forwarded-For": "1.2.3.5"}).status_code == 200
        assert client.get("/livez", headers={"X-Forwarded-For": "1.2.3.4"}).status_code == 200


@pytest.mark.parametrize("status", [408, 413, 429])
def test_a_browser_that_is_refused_gets_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    async def slow(*_: Any) -> None:
        raise Problem("timeout", "no whole body in time")

    if status == 408:
        monkeypatch.setattr(Limited, "_body", slow)
    changed: dict[int, dict[str, Any]] = {408: {}, 413: {"body_most": 10}, 429: {"rate": 1}}
    browser = {"Accept": "text/html,*/*;q=0.8"}
    with serving(tmp_path, **changed[status]) as client:
        first = client.post("/playground", content=b"x" * 20, headers=browser)
        response = client.post("/playground", content=b"x" * 20, headers=browser) if status == 429 else first
        assert response.status_code == status
        assert response.headers["content-type"].startswith("text/html")
        assert response.headers["content-security-policy"].startswith("default-src 'self';")
        assert ("retry-after" in response.headers) is (status == 429)
        assert "<h1>" in response.text
        for url, headers in (("/playground", {}), ("/v1/check", browser)):
            refused = client.post(url, content=b"x" * 20, headers=headers)
            assert refused.status_code == status
            assert refused.headers["content-type"] == "application/problem+json"


def test_head_is_get_without_its_body(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    pages = ("/", f"/models/{MODEL}", "/compare", "/playground", "/api", "/static/app.css")
    data = (URL, f"/v1/compare?a={MODEL}", "/v1/examples", f"/badge/{MODEL}.svg", "/openapi.json", "/livez")
    for url in (*pages, *data, "/v1/nowhere", "/v1/check"):
        got, head = client.get(url), client.head(url)
        assert (head.status_code, head.content) == (got.status_code, b""), url
        for name in ("content-type", "content-length", "etag", "cache-control"):
            assert head.headers.get(name) == got.headers.get(name), (url, name)
    tag = client.get(URL).headers["etag"]
    assert client.head(URL, headers={"If-None-Match": tag}).status_code == 304
    assert 'method="HEAD",route="/v1/models/{org}/{name}",status="200"' in client.get("/metrics").text


def test_head_over_a_connection(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, files())
    with service(tmp_path, hub) as running:
        place = urlsplit(running.url)
        assert place.hostname is not None
        connection = HTTPConnection(place.hostname, place.port, timeout=20)
        for _ in range(2):
            connection.request("HEAD", URL)
            response = connection.getresponse()
            assert (response.status, response.read()) == (200, b"")
            assert int(response.headers["content-length"]) > 100
        connection.close()
        assert "shorter than" not in running.log.read_text()


@pytest.mark.parametrize(
    "token", ["hf_abc_SECRET", "hf_oauth_eyJhbGci.eyJzdWIi.SECRET-x_y", "hf_SECRET", "Bearer SECRET"]
)
def test_a_token_is_taken_out_of_the_log_whole(token: str) -> None:
    told = without_secrets(None, "", {"event": f"asked with {token} and refused"})
    assert told["event"].startswith("asked with [token]")
    assert "SECRET" not in told["event"]
    assert told["event"].endswith(" refused")


def test_a_forged_address_is_not_believed(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, files())
    with serving(tmp_path, rate=2) as client:
        answers = [client.get(URL, headers={"X-Forwarded-For": f"1.2.3.{n}"}).status_code for n in range(3)]
    assert answers == [200, 200, 429]


def test_the_document(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    operations = [
        (path, method, operation) for path, item in document["paths"].items() for method, operation in item.items()
    ]
    ids = Counter(operation["operationId"] for _, _, operation in operations)
    assert set(ids.values()) == {1}
    assert {path for path, _, _ in operations} == {
        "/v1/models/{org}/{name}",
        "/v1/models/{org}/{name}/headers",
        "/v1/models/{org}/{name}/matrix",
        "/v1/models/{org}/{name}/diff",
        "/v1/releases",
        "/v1/releases/{version}",
        "/v1/rules",
        "/v1/rules/{id}",
        "/v1/check",
        "/v1/batch",
        "/v1/compare",
        "/v1/examples",
        "/v1/examples/{org}/{name}",
        "/v1/examples/{org}/{name}/matrix",
        "/v1/examples/{org}/{name}/diff",
        "/badge/{org}/{name}.svg",
        "/livez",
        "/readyz",
        "/metrics",
    }
    for path, _, operation in operations:
        if path.startswith(("/v1/", "/badge")):
            assert "429" in operation["responses"]
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                assert list(response["content"]) == ["application/problem+json"], (path, status)
                assert response["content"]["application/problem+json"]["examples"]
    text = json.dumps(document)
    for reference in set(re.findall(r'"#/components/schemas/([^"]+)"', text)):
        part = document["components"]["schemas"]
        for name in reference.split("/"):
            part = part[name]


def test_the_numbers_name_routes_and_no_models(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    client.get(URL)
    client.get("/v1/nowhere/at/all")
    text = client.get("/metrics").text
    assert 'fse_requests_total{method="GET",route="/v1/models/{org}/{name}",status="200"} 1.0' in text
    assert 'route="(none)",status="404"' in text
    assert "org/name" not in text
