"""`POST /v1/check`: a config that the caller sends."""

import json
import threading
from typing import Any

import pytest
from starlette.testclient import TestClient

from fse_core import Target, check
from fse_core.output.json import report_to_dict
from fse_core.read.document import parse_object
from fse_core.read.source import model_from_dict
from tests.hub_server import HubServer
from tests.service.clients import CONFIG, NVFP4, problem

URL = "/v1/check"
JSON = {"Content-Type": "application/json"}


def test_the_report(client: TestClient, hub: HubServer) -> None:
    response = client.post(URL, json={"config": CONFIG, "target": {"tp": 8, "gfx": "gfx950"}})
    expected = report_to_dict(check(model_from_dict(CONFIG), Target(vllm="0.33.0", tp=8, gfx="gfx950")))
    assert response.json() == expected
    assert response.headers["cache-control"] == "no-store"
    assert hub.requests == []


def test_a_reports_target_can_be_sent_back(client: TestClient) -> None:
    first = client.post(URL, json={"config": CONFIG, "target": {"tp": 8, "env": {"A": "1"}}}).json()
    assert client.post(URL, json={"config": CONFIG, "target": first["target"]}).json() == first


def test_hf_quant_config_counts(client: TestClient) -> None:
    config = {**CONFIG, "quantization_config": None}
    told = client.post(URL, json={"config": config, "hf_quant_config": NVFP4}).json()
    assert told["model"]["quantization"] == "ModelOptNvFp4Config"


def test_what_is_no_model_is_undecided(client: TestClient) -> None:
    told = client.post(URL, json={"config": {}}).json()
    assert told["verdict"] == "undecided"
    assert "architectures" in told["undecided_reason"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b"", "body"),
        (b"[]", "body"),
        (b'{"config": {}', "body"),
        (b'{"config": 1}', "config"),
        (b"{}", "config"),
        (b'{"config": {}, "more": 1}', "more"),
        (b'{"config": {"a": {"b": 1, "b": 2}}}', "body: config.a.b"),
        (b'{"config": {"a": NaN}}', "body: config.a"),
        (b'{"config": {}, "hf_quant_config": []}', "hf_quant_config"),
        (b'{"config": {}, "target": {"tp": 0}}', "target.tp"),
        (b'{"config": {}, "target": 1}', "target"),
        (b'{"config": ' + b'{"a":' * 70 + b"1" + b"}" * 71, "body"),
        (b"\xff\xfe{", "body"),
    ],
)
def test_what_is_wrong_is_named(client: TestClient, body: bytes, path: str) -> None:
    assert problem(client.post(URL, content=body, headers=JSON), 422, "invalid-input")["path"] == path


def test_other_media_types(client: TestClient) -> None:
    for headers in ({"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"}):
        problem(client.post(URL, content=b"{}", headers=headers), 415, "unsupported-media-type")
    body = json.dumps({"config": CONFIG}).encode()
    for good in ("application/json; charset=utf-8", "application/vnd.x+json", "Application/JSON"):
        assert client.post(URL, content=body, headers={"Content-Type": good}).status_code == 200


def test_too_large(client: TestClient) -> None:
    large: dict[str, Any] = {"content": b"x" * (9 * 1024 * 1024 + 1), "headers": JSON}
    problem(client.post(URL, **large), 413, "too-large")

    def pieces() -> Any:
        for _ in range(10):
            yield b" " * 1024 * 1024

    problem(client.post(URL, content=pieces(), headers=JSON), 413, "too-large")


def test_a_large_body_is_read_in_a_thread(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []

    def parsed(*given: Any) -> Any:
        threads.append(threading.current_thread())
        return parse_object(*given)

    monkeypatch.setattr("service.api.inputs.parse_object", parsed)
    assert client.post(URL, json={"config": CONFIG}).status_code == 200
    assert client.post(URL, json={"config": {**CONFIG, "more": "x" * 100_000}}).status_code == 200
    assert threads[0] is not threads[1]
    assert threads[1].name.startswith("asyncio_")


def test_names_that_utf8_cannot_hold(client: TestClient) -> None:
    body = b'{"config": {"architectures": ["\\ud800"]}}'
    assert problem(client.post(URL, content=body, headers=JSON), 422, "invalid-input")["path"].startswith(
        "body: config"
    )
