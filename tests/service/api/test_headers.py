"""`headers=`: at once what the config says, and what the headers say once they are read."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from fse_core import Target, check
from fse_core.headers import with_headers
from fse_core.located import located
from fse_core.output.json import report_to_dict
from fse_core.read.source import model_from_bytes
from fse_core.report import Source
from tests.hub_server import HubServer
from tests.output.test_json import SCHEMA
from tests.service import headers
from tests.service.clients import MODEL, TOKEN, URL, asked, problem, serving
from tests.service.headers import CONFIG, WHOLE, events, settled


def test_the_report_is_that_of_fse_check(client: TestClient, hub: HubServer) -> None:
    commit = hub.add(MODEL, headers.checkpoint(headers.plain_shared())).refs["main"]
    response = client.get(f"{URL}?headers=full&tp=2", headers=WHOLE)
    assert response.status_code == 200
    source = Source(kind="hub", id=MODEL, revision="main", commit=commit)
    target = Target(vllm="0.33.0", tp=2)
    model = with_headers(model_from_bytes(json.dumps(CONFIG).encode(), source=source), "full", (target,), token=False)
    assert response.json() == json.loads(json.dumps(report_to_dict(located(check(model, target), model))))
    Draft202012Validator(SCHEMA).validate(response.json())
    plain = client.get(f"{URL}?tp=2").json()
    assert (plain["verdict"], response.json()["verdict"]) == ("fuses", "breaks")
    told = " ".join(line for finding in response.json()["findings"] for line in finding["evidence"])
    assert "shared_experts.gate_proj.weight" in told


def test_what_the_config_says_comes_at_once(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, headers.checkpoint(headers.tensors()))
    hub.fail("safetensors", delay=0.3)
    first = client.get(f"{URL}?headers=full")
    assert first.status_code == 202
    assert first.headers["cache-control"] == "no-store"
    assert first.headers["retry-after"] == "1"
    told = first.json()
    assert told["report"] == client.get(URL).json()
    assert (told["schema"], told["headers"], told["files"]) == ("fse.reading/1", "full", {"done": 0, "total": None})
    assert told["events"] == f"{URL}/headers?headers=full"
    response = settled(client, f"{URL}?headers=full")
    assert response.status_code == 200
    assert response.json()["schema"] == "fse.report/1"


def test_the_files_that_are_read(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, headers.checkpoint(headers.tensors(), 12))
    assert client.get(f"{URL}?headers=sample", headers=WHOLE).json()["verdict"] == "fuses"
    sampled = asked(hub, "-of-00012.safetensors")
    assert 0 < sampled < 12
    assert client.get(f"{URL}?headers=full", headers=WHOLE).json()["verdict"] == "fuses"
    assert asked(hub, "-of-00012.safetensors") == 12
    assert hub.sent < 1024**2


def test_each_header_is_read_once_for_its_commit(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, headers.checkpoint(headers.tensors()))
    with serving(tmp_path) as client:
        first = client.get(f"{URL}?headers=full", headers=WHOLE)
        count = len(hub.requests)
        assert client.get(f"{URL}?headers=full").content == first.content
        assert client.get(f"{URL}?headers=full&tp=2&gfx=gfx950", headers=WHOLE).status_code == 200
        assert client.get(f"{URL}?headers=sample", headers=WHOLE).status_code == 200
        assert len(hub.requests) == count
    with serving(tmp_path) as client:
        assert client.get(f"{URL}?headers=full").content == first.content
        assert client.get(f"{URL}?headers=full&tp=4", headers=WHOLE).status_code == 200
        assert len(hub.requests) == count


def test_what_may_be_kept(client: TestClient, hub: HubServer) -> None:
    commit = hub.add(MODEL, headers.checkpoint(headers.tensors())).refs["main"]
    branch = client.get(f"{URL}?headers=sample&tp=2", headers=WHOLE)
    assert branch.headers["cache-control"] == "public, max-age=60"
    place = branch.headers["content-location"]
    assert place == f"{URL}?revision={commit}&vllm=0.33.0&gfx=gfx942&tp=2&headers=sample"
    exact = client.get(place, headers=WHOLE)
    assert "immutable" in exact.headers["cache-control"]
    assert client.get(place, headers={"If-None-Match": exact.headers["etag"]}).status_code == 304
    plain = client.get(place.removesuffix("&headers=sample"))
    assert (exact.headers["x-fse-headers"], plain.headers.get("x-fse-headers")) == ("sample", None)
    assert plain.content == exact.content  # the headers bear out what the config says


def test_the_reading_as_events(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, headers.checkpoint(headers.tensors(), 24))
    hub.fail("safetensors", delay=0.4)
    response = client.get(f"{URL}/headers?headers=full")
    assert response.headers["content-type"].startswith("text/event-stream")
    told = events(response.text)
    assert [name for name, _ in told if name != "progress"] == ["report", "report", "end"]
    assert [data["headers"] for name, data in told if name == "report"] == ["none", "full"]
    seen = [data["files"] for name, data in told if name == "progress"]
    assert any(0 < files["done"] < files["total"] == 24 for files in seen if files["total"])
    assert [files["done"] for files in seen] == sorted(files["done"] for files in seen)
    assert max(data["bytes"] for name, data in told if name == "progress") > 0
    assert told[-1][1]["succeeded"] is True
    assert told[-2][1]["report"] == client.get(f"{URL}?headers=full").json()
    known = [name for name, _ in events(client.get(f"{URL}/headers").text)]
    assert known == ["report", "report", "end"]


@pytest.mark.parametrize(
    ("made", "rule"), [(headers.lacking, "FSE130"), (headers.without_an_index, ""), (dict, "FSE130")]
)
def test_files_that_do_not_fit_together_are_findings(client: TestClient, hub: HubServer, made: Any, rule: str) -> None:
    hub.add(MODEL, made() or {"config.json": json.dumps(CONFIG).encode()})
    found = client.get(f"{URL}?headers=full", headers=WHOLE)
    assert found.status_code == 200
    assert {finding["rule"] for finding in found.json()["findings"]} == ({rule} if rule else set())


@pytest.mark.parametrize("made", [headers.with_a_wrong_index, headers.with_an_index_out_of_the_folder])
def test_an_index_that_is_none(client: TestClient, hub: HubServer, made: Any) -> None:
    hub.add(MODEL, made())
    told = problem(client.get(f"{URL}?headers=full", headers=WHOLE), 422, "unreadable-headers")
    assert "model.safetensors.index.json" in told["path"]
    assert client.get(URL).status_code == 200
    failed = events(client.get(f"{URL}/headers").text)
    assert [name for name, _ in failed if name != "progress"] == ["report", "problem", "end"]
    assert failed[-2][1] == told
    assert failed[-1][1]["succeeded"] is False


@pytest.mark.parametrize(
    ("address", "path"),
    [
        (f"{URL}?headers=all", "headers"),
        (f"{URL}?headers=", "headers"),
        (f"{URL}?headers=full&headers=full", "headers"),
        (f"{URL}?headers=full&tp=0", "tp"),
        (f"{URL}/headers?headers=none", "headers"),
        (f"{URL}/headers?mode=full", "mode"),
        ("/v1/examples/zai-org/GLM-4.5?headers=full", "headers"),
    ],
)
def test_what_is_wrong_is_named(client: TestClient, hub: HubServer, address: str, path: str) -> None:
    assert problem(client.get(address), 422, "invalid-input")["path"] == path
    assert hub.requests == []


def test_a_private_model_is_read_with_the_callers_token_and_kept_nowhere(
    tmp_path: Path, hub: HubServer, capfd: pytest.CaptureFixture[str]
) -> None:
    stored_apart = frozenset(name for name in headers.checkpoint({}, 0) if name.endswith(".safetensors"))
    hub.add(MODEL, headers.checkpoint(headers.plain_shared()), private=True, stored_apart=stored_apart)
    hub.tokens["hf_reader"] = {MODEL}
    with serving(tmp_path / "store", log_level="debug") as client:
        response = client.get(f"{URL}?headers=full", headers=TOKEN)
        assert (response.status_code, response.headers["cache-control"]) == (200, "private, no-store")
        assert response.json()["verdict"] == "breaks"
        told = events(client.get(f"{URL}/headers", headers=TOKEN).text)
        assert told[-1][1]["succeeded"] is True
        problem(client.get(f"{URL}?headers=full"), 404, "not-found")
        problem(client.get(f"{URL}/headers"), 404, "not-found")
        sent = {"models": [MODEL], "headers": "sample"}
        assert client.post("/v1/batch", json=sent, headers=TOKEN).json()["succeeded"] == 1
        assert client.post("/v1/batch", json=sent).json()["succeeded"] == 0
    held = [path for path in tmp_path.rglob("*") if path.is_file() and "hf-home" not in path.parts]
    assert held
    for path in held:
        assert not any(word in path.read_bytes() for word in (b"hf_reader", b"shared_experts", b"DeepseekV3"))
    assert "hf_" not in capfd.readouterr().err


def test_a_batch_waits_for_headers_and_tells_the_worst(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, headers.checkpoint(headers.plain_shared()))
    hub.add("org/sound", headers.checkpoint(headers.tensors()))
    names = [MODEL, "org/sound", "org/none"]
    plain = client.post("/v1/batch", json={"models": names}).json()["results"]
    assert [result["worst"] for result in plain] == [None, None, None]
    told = client.post("/v1/batch", json={"models": names, "headers": "full"}).json()["results"]
    assert [result["worst"] for result in told] == ["error", None, None]
    assert told[0]["report"] == client.get(f"{URL}?headers=full").json()
    for wrong in ("all", "", None, 1, ["full"]):
        sent = {"models": names, "headers": wrong}
        assert problem(client.post("/v1/batch", json=sent), 422, "invalid-input")["path"] == "headers"
