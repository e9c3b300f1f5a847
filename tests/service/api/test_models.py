"""`GET /v1/models/{org}/{name}`: the report, how long it may be kept, and what is asked of the Hub for it."""

import json
import time
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

import fse_core
from fse_core import Target, check
from fse_core.output.json import report_to_dict
from fse_core.read.source import model_from_bytes
from fse_core.report import Source
from tests.hub_server import HubServer
from tests.output.test_json import SCHEMA
from tests.service.clients import CONFIG, MODEL, NVFP4, TOKEN, URL, asked, files, problem, serving


def test_the_report_is_that_of_fse_check(client: TestClient, hub: HubServer) -> None:
    commit = hub.add(MODEL, files()).refs["main"]
    response = client.get(URL, params={"tp": "8", "gfx": "gfx950"})
    source = Source(kind="hub", id=MODEL, revision="main", commit=commit)
    model = model_from_bytes(json.dumps(CONFIG).encode(), source=source)
    assert response.json() == report_to_dict(check(model, Target(vllm="0.33.0", gfx="gfx950", tp=8)))
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-fse-engine"] == response.json()["engine"] == fse_core.__version__
    Draft202012Validator(SCHEMA).validate(response.json())


def test_a_branch_is_kept_shortly_and_names_its_commit(client: TestClient, hub: HubServer) -> None:
    commit = hub.add(MODEL, files()).refs["main"]
    response = client.get(URL, params={"tp": "2"})
    assert response.headers["cache-control"] == "public, max-age=60"
    location = response.headers["content-location"]
    assert location == f"{URL}?revision={commit}&vllm=0.33.0&gfx=gfx942&tp=2"
    at_commit = client.get(location)
    assert at_commit.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "content-location" not in at_commit.headers
    assert at_commit.json()["layers"] == response.json()["layers"]
    assert at_commit.json()["source"]["commit"] == response.json()["source"]["commit"] == commit


@pytest.mark.parametrize("release", [{}, {"vllm": "latest"}])
def test_a_commit_alone_is_not_for_ever(client: TestClient, hub: HubServer, release: dict[str, str]) -> None:
    commit = hub.add(MODEL, files()).refs["main"]
    response = client.get(URL, params={"revision": commit, **release})
    assert response.headers["cache-control"] == "public, max-age=60"
    assert response.headers["content-location"] == f"{URL}?revision={commit}&vllm=0.33.0&gfx=gfx942&tp=1"
    badge = client.get(f"/badge/{MODEL}.svg", params={"revision": commit, **release})
    assert badge.headers["cache-control"] == "public, max-age=300"
    named = client.get(f"/badge/{MODEL}.svg", params={"revision": commit, "vllm": "0.33.0"})
    assert "immutable" in named.headers["cache-control"]


def test_the_tag_is_strong_and_is_honoured(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    first = client.get(URL)
    tag = first.headers["etag"]
    assert tag.startswith('"')
    for given in (tag, f'W/{tag}, "other"', f'"other",{tag}', "*"):
        again = client.get(URL, headers={"If-None-Match": given})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
        assert again.headers["cache-control"] == first.headers["cache-control"]
        assert again.headers["content-location"] == first.headers["content-location"]
    assert client.get(URL, headers={"If-None-Match": '"other"'}).content == first.content
    assert client.get(URL, params={"tp": "2"}).headers["etag"] != tag


def test_the_hub_is_asked_once(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    first = client.get(URL)
    count = len(hub.requests)
    assert asked(hub, "GET /org/name/resolve") == 1
    assert client.get(URL).content == first.content
    assert client.get(URL, params={"tp": "4"}).status_code == 200
    assert client.get(first.headers["content-location"]).status_code == 200
    assert len(hub.requests) == count


def test_a_branch_that_moves_is_seen_and_its_files_are_fetched(tmp_path: Path, hub: HubServer) -> None:
    repo = hub.add(MODEL, files())
    with serving(tmp_path, branch_seconds=0.0) as client:
        before = client.get(URL).json()
        assert client.get(URL).json() == before
        assert asked(hub, "GET /org/name/resolve") == 1
        commit = repo.push(files({**CONFIG, "num_hidden_layers": 4}))
        after = client.get(URL).json()
    assert after["source"]["commit"] == commit
    assert (before["model"]["layers"], after["model"]["layers"]) == (5, 4)


def test_what_is_stored_outlives_the_process(tmp_path: Path, hub: HubServer) -> None:
    hub.add(MODEL, files())
    with serving(tmp_path) as client:
        first = client.get(URL)
    hub.requests.clear()
    with serving(tmp_path) as client:
        assert client.get(URL).content == first.content
    assert hub.requests == []


def test_hf_quant_config_counts(client: TestClient, hub: HubServer) -> None:
    plain = files({**CONFIG, "quantization_config": None})
    hub.add(MODEL, plain)
    hub.add("org/quant", {**plain, "hf_quant_config.json": json.dumps(NVFP4).encode()})
    assert client.get(URL).json()["model"]["quantization"] is None
    assert client.get("/v1/models/org/quant").json()["model"]["quantization"] == "ModelOptNvFp4Config"


def test_errors_of_the_hub(client: TestClient, hub: HubServer) -> None:
    hub.add("org/gated", files(), gated=True)
    hub.add("org/private", files(), private=True)
    hub.add("org/empty", {"README.md": b""})
    hub.add("org/broken", {"config.json": b'{"architectures": ["A"], "x": nope}'})
    hub.add(MODEL, files())
    problem(client.get("/v1/models/org/gated"), 403, "gated")
    problem(client.get("/v1/models/org/private"), 404, "not-found")
    problem(client.get("/v1/models/org/missing"), 404, "not-found")
    problem(client.get("/v1/models/org/empty"), 404, "config-not-found")
    told = problem(client.get("/v1/models/org/broken"), 422, "unreadable-config")
    assert told["path"] == "config.json"
    assert "line 1" in told["detail"]
    told = problem(client.get(URL, params={"revision": "no-such"}), 404, "revision-not-found")
    assert "no-such" in told["detail"]


def test_the_hubs_own_limit_is_passed_on_with_its_time(client: TestClient, hub: HubServer) -> None:
    hub.fail("/api/models/", status=429, headers={"Retry-After": "17"})
    response = client.get(URL)
    problem(response, 503, "upstream-rate-limited")
    assert response.headers["retry-after"] == "17"
    count = len(hub.requests)
    problem(client.get(URL), 503, "upstream-rate-limited")
    assert len(hub.requests) == count


def test_a_refusal_is_remembered_for_a_while(tmp_path: Path, hub: HubServer) -> None:
    with serving(tmp_path, negative_seconds=0.3) as client:
        problem(client.get(URL), 404, "not-found")
        count = len(hub.requests)
        problem(client.get(URL, params={"tp": "2"}), 404, "not-found")
        assert len(hub.requests) == count
        hub.add(MODEL, files())
        time.sleep(0.35)
        assert client.get(URL).status_code == 200


@pytest.mark.parametrize("id", ["-org/name", "org/na..me", "org/" + "n" * 97, "org/na%20me"])
def test_ids_that_cannot_be(client: TestClient, hub: HubServer, id: str) -> None:
    assert problem(client.get(f"/v1/models/{id}"), 422, "invalid-input")["path"] == "model"
    assert hub.requests == []


def test_a_name_that_the_hub_does_not_allow_is_no_models(client: TestClient, hub: HubServer) -> None:
    problem(client.get("/v1/models/org/name.git"), 404, "not-found")
    assert hub.requests == []


@pytest.mark.parametrize("revision", ["", "a b", "../x", "a//b", "-x", "x" * 300, "a\tb", "main?x", "é"])
def test_revisions_that_cannot_be(client: TestClient, hub: HubServer, revision: str) -> None:
    assert problem(client.get(URL, params={"revision": revision}), 422, "invalid-input")["path"] == "revision"
    assert hub.requests == []


@pytest.mark.parametrize("headers", [{}, TOKEN])
@pytest.mark.parametrize(("more", "count"), [({}, 2), ({"hf_quant_config.json": json.dumps(NVFP4).encode()}, 3)])
def test_a_model_never_seen_before_takes_few_requests(
    client: TestClient, hub: HubServer, more: dict[str, bytes], count: int, headers: dict[str, str]
) -> None:
    hub.tokens["hf_reader"] = set()
    hub.add(MODEL, files(**more))
    assert client.get(URL, headers=headers).json()["model"]["quantization"]
    assert len(hub.requests) == count


def test_a_branch_that_stayed_where_it_was_takes_one_request(tmp_path: Path, hub: HubServer) -> None:
    repo = hub.add(MODEL, files())
    with serving(tmp_path, branch_seconds=0.0) as client:
        first = client.get(URL)
        hub.requests.clear()
        assert client.get(URL, params={"tp": "2"}).status_code == 200
        assert len(hub.requests) == 1
        commit = repo.push(files({**CONFIG, "num_hidden_layers": 5}))
        assert client.get(URL).json()["source"]["commit"] == commit != first.json()["source"]["commit"]
        assert len(hub.requests) == 3


def test_a_file_that_the_hub_refuses_is_not_asked_for_again(tmp_path: Path, hub: HubServer) -> None:
    commit = hub.add(MODEL, files(), gated=True).refs["main"]
    with serving(tmp_path, branch_seconds=0.0) as client:
        problem(client.get(URL), 403, "gated")
        hub.requests.clear()
        problem(client.get(URL, params={"revision": commit}), 403, "gated")
        assert hub.requests == []
        problem(client.get(URL), 403, "gated")
        assert asked(hub, "/api/models") == len(hub.requests) == 1


def test_gated_models_are_read_with_the_callers_token(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files(), gated=True, private=True)
    hub.tokens["hf_reader"] = {MODEL}
    problem(client.get(URL), 404, "not-found")
    response = client.get(URL, headers=TOKEN)
    assert response.status_code == 200
    assert response.headers["cache-control"] == "private, no-store"
    assert "etag" not in response.headers
    problem(client.get(URL), 404, "not-found")
    hub.tokens["hf_other"] = set()
    problem(client.get(URL, headers={"Authorization": "Bearer hf_other"}), 404, "not-found")
    commit = response.json()["source"]["commit"]
    problem(client.get(URL, params={"revision": commit}), 404, "not-found")


@pytest.mark.parametrize("private", [False, True])
def test_a_token_that_the_hub_does_not_accept(client: TestClient, hub: HubServer, private: bool) -> None:
    hub.add(MODEL, files(), private=private)
    for url in (URL, "/v1/models/org/none"):
        response = client.get(url, headers={"Authorization": "Bearer hf_bogus"})
        assert problem(response, 401, "token-not-accepted")["path"] == "Authorization"
        assert response.headers["www-authenticate"] == "Bearer"
        assert "hf_bogus" not in response.text
    assert client.get(URL).status_code == (404 if private else 200)


def test_a_token_of_the_hubs_login_pages_has_dots(client: TestClient, hub: HubServer) -> None:
    token = "hf_oauth_eyJhbGci.eyJzdWIi.x-y_z"
    hub.add(MODEL, files(), private=True)
    hub.tokens[token] = {MODEL}
    assert client.get(URL, headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_a_public_model_asked_for_with_a_token_is_not_shared_either(client: TestClient, hub: HubServer) -> None:
    hub.add(MODEL, files())
    hub.tokens["hf_reader"] = set()
    assert client.get(URL, headers=TOKEN).headers["cache-control"] == "private, no-store"
    count = len(hub.requests)
    assert client.get(URL).headers["cache-control"].startswith("public")
    assert len(hub.requests) > count
    assert all(request.token is None for request in hub.requests[count:])
    assert client.get(URL, headers=TOKEN).headers["cache-control"] == "private, no-store"


def test_the_servers_own_login_is_never_used(
    client: TestClient, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_reader")
    hub.tokens["hf_reader"] = {MODEL}
    hub.add(MODEL, files(), private=True)
    problem(client.get(URL), 404, "not-found")
    assert {request.token for request in hub.requests} == {None}


@pytest.mark.parametrize("given", ["Bearer", "Basic aGY6eA==", "Bearer secret", "Bearer hf_a b", "Bearer hf_é"])
def test_authorization_that_is_no_hub_token(client: TestClient, hub: HubServer, given: str) -> None:
    response = client.get(URL, headers={b"Authorization": given.encode("latin-1")})
    assert problem(response, 422, "invalid-input")["path"] == "Authorization"
    assert hub.requests == []


def test_a_token_is_on_no_disk_and_in_no_log(
    tmp_path: Path, hub: HubServer, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    hub.add(MODEL, files(), private=True)
    hub.tokens["hf_reader"] = {MODEL}
    with serving(tmp_path / "store", log_level="debug") as client:
        assert client.get(URL, headers=TOKEN).status_code == 200
        assert client.get(f"{URL}?env=X=hf_secret", headers={"Authorization": "Bearer hf_secret"}).status_code == 401
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and "hf-home" not in path.parts]
    assert not any(b"hf_reader" in path.read_bytes() or b"DeepseekV3" in path.read_bytes() for path in kept)
    assert list(scratch.iterdir()) == []
    told = capfd.readouterr().err
    assert '"path": "/v1/models/org/name"' in told
    assert "hf_" not in told
