"""The reader that keeps nothing, through the real client's session: few requests, and the Hub's every fault."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from fse_core.errors import FetchError, FetchKind, InputError
from fse_core.read.document import MAX_BYTES
from fse_core.read.hub import HubFiles
from fse_core.read.hub_direct import files_at, latest
from fse_core.report import Source
from tests.hub_server import HubServer

CONFIG = b'{"architectures": ["DeepseekV3ForCausalLM"]}'
QUANT = b'{"quantization": {"quant_algo": "FP8"}}'
FILES = {"config.json": CONFIG, "hf_quant_config.json": QUANT}
NO_COMMIT = "0" * 40
API = "GET /api/models/org/name/revision/main"


def files(name: str = "org/name", revision: str = "main", **options: Any) -> HubFiles:
    found = latest(name, revision, token=options.pop("token", False), **options).files
    assert found is not None
    if isinstance(found, FetchError):
        raise found
    return found


def refused(kind: FetchKind, *parts: str, name: str = "org/name", **options: Any) -> FetchError:
    with pytest.raises(FetchError) as caught:
        files(name, **options)
    assert caught.value.kind == kind, caught.value.message
    for part in parts:
        assert part in caught.value.message
    return caught.value


def asked(hub: HubServer) -> list[str]:
    return [line.partition("?")[0] for line in hub.asked()]


def test_two_requests_for_a_model_without_a_quantization_file(hub: HubServer) -> None:
    commit = hub.add("org/name", {"config.json": CONFIG}).refs["main"]
    found = files()
    assert found.source == Source(kind="hub", id="org/name", revision="main", commit=commit)
    assert (found.config, found.hf_quant_config) == (CONFIG, None)
    assert asked(hub) == [API, f"GET /org/name/resolve/{commit}/config.json"]


def test_three_requests_for_a_model_with_one(hub: HubServer) -> None:
    commit = hub.add("org/name", FILES).refs["main"]
    assert files().hf_quant_config == QUANT
    at = f"GET /org/name/resolve/{commit}"
    assert asked(hub) == [API, f"{at}/config.json", f"{at}/hf_quant_config.json"]


def test_one_request_for_a_commit_that_is_known(hub: HubServer) -> None:
    commit = hub.add("org/name", FILES).refs["main"]
    found = latest("org/name", "main", known=commit)
    assert (found.source.commit, found.files) == (commit, None)
    assert asked(hub) == [API]


def test_a_commit_is_not_looked_up(hub: HubServer) -> None:
    commit = hub.add("org/name", FILES).refs["main"]
    expected = files()
    hub.requests.clear()
    at_commit = files(revision=commit)
    assert (at_commit.config, at_commit.hf_quant_config) == (expected.config, expected.hf_quant_config)
    assert files_at(expected.source, token=False) == expected
    assert not any("/api/" in line for line in asked(hub))


@pytest.mark.parametrize("listed", [None, [], [{"rfilename": "README.md"}], [{"rfilename": "config.json"}] * 10_001])
def test_a_list_that_may_not_be_whole_is_not_believed(hub: HubServer, listed: Any) -> None:
    commit = hub.add("org/name", FILES).refs["main"]
    told = {"sha": commit} if listed is None else {"sha": commit, "siblings": listed}
    hub.fail("/api", body=json.dumps(told).encode())
    assert files().hf_quant_config == QUANT


def test_files_of_one_commit_though_the_branch_moves(hub: HubServer) -> None:
    repo = hub.add("org/name", FILES)
    old = repo.refs["main"]
    hub.fail("GET /api", times=1, after=lambda: repo.push({"config.json": b"{}"}))
    found = files()
    assert (found.source.commit, found.config, found.hf_quant_config) == (old, CONFIG, QUANT)


@pytest.mark.parametrize("ref", ["v1.0", "refs/pr/4", "feature/a+b#c", "é"])
def test_named_revision(hub: HubServer, ref: str) -> None:
    commit = hub.add("org/name", FILES).push({"config.json": b"{}"}, ref)
    assert files(revision=ref).source.commit == commit


def test_renamed_repository(hub: HubServer) -> None:
    commit = hub.add("new/name", FILES).refs["main"]
    hub.renamed["old/name"] = "new/name"
    assert files("old/name").source.commit == commit


def test_second_host_gets_no_token(hub: HubServer) -> None:
    hub.add("org/name", FILES, stored_apart=frozenset(FILES), private=True)
    hub.tokens["hf_reader"] = {"org/name"}
    assert files(token="hf_reader").hf_quant_config == QUANT
    tokens = {host: {request.token for request in hub.requests if request.host == host} for host in ("hub", "cdn")}
    assert tokens == {"hub": {"hf_reader"}, "cdn": {None}}


def test_no_token_of_its_own_and_nothing_on_disk(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_environment")
    hub.add("org/name", FILES)
    files()
    assert {request.token for request in hub.requests} == {None}
    assert os.listdir(tmp_path) == []


def test_what_a_reader_may_not_have(hub: HubServer) -> None:
    hub.add("org/gated", FILES, gated=True)
    hub.add("org/private", FILES, private=True)
    hub.add("org/other", {"params.json": b"{}"})
    hub.tokens["hf_other"] = set()
    refused("gated", "ask for access", name="org/gated")
    refused("gated", "no access to it", name="org/gated", token="hf_other")
    refused("bad_token", name="org/gated", token="hf_invalid")
    refused("missing_repo", name="org/private")
    refused("missing_revision", name="org/other", revision="nope")
    refused("missing_revision", name="org/other", revision=NO_COMMIT)
    refused("missing_file", "has no config.json", name="org/other")
    with pytest.raises(InputError):
        files("org/na me")
    with pytest.raises(InputError):
        files(revision="../x")


def test_the_commit_is_told_beside_the_refusal(hub: HubServer) -> None:
    commit = hub.add("org/name", FILES, gated=True).refs["main"]
    found = latest("org/name", "main", token=False)
    assert found.source.commit == commit
    assert isinstance(found.files, FetchError)


@pytest.mark.parametrize("where", ["GET /api", "GET .*/config.json", "GET .*/hf_quant_config.json"])
def test_rate_limit_is_told_at_once(hub: HubServer, where: str) -> None:
    hub.add("org/name", FILES)
    hub.fail(where, status=429, headers={"Retry-After": "37"})
    assert refused("rate_limited", "in 37 s").retry_after == 37
    assert sum("config" in line or "api" in line for line in asked(hub)) <= 3


@pytest.mark.parametrize("where", ["GET /api", "GET .*/config.json"])
@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ({"status": 503}, "unreachable"),
        ({"hang_up": True}, "broken"),
        ({"status": 302, "headers": {"Location": "/api/models/org/name"}}, "broken"),
        ({"status": 302}, "broken"),
        ({"status": 204}, "broken"),
        ({"headers": {"Content-Encoding": "gzip"}}, "broken"),
        ({"cut": 7}, "broken"),
    ],
    ids=str,
)
def test_not_as_the_hub_answers(hub: HubServer, where: str, how: dict[str, Any], kind: FetchKind) -> None:
    hub.add("org/name", FILES)
    hub.fail(where, **how)
    refused(kind)


@pytest.mark.parametrize("commit", ["", NO_COMMIT])
def test_file_of_another_commit(hub: HubServer, commit: str) -> None:
    hub.add("org/name", FILES)
    hub.fail("GET .*/config.json", headers={"X-Repo-Commit": commit})
    refused("broken", "of another commit")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"{}", b'{"sha": null}', b'{"sha": "main"}', b"\xff", b'{"sha": 7}']
)
def test_garbage_for_the_revision(hub: HubServer, body: bytes) -> None:
    hub.add("org/name", FILES)
    hub.fail("/api", body=body)
    refused("broken")


@pytest.mark.parametrize("where", ["GET /api", "GET .*/config.json"])
@pytest.mark.parametrize("how", [{"hang_up": True}, {"cut": 7}], ids=str)
def test_a_dropped_connection_is_opened_again_once(hub: HubServer, where: str, how: dict[str, Any]) -> None:
    hub.add("org/name", FILES)
    hub.fail(where, times=1, **how)
    assert files().config == CONFIG


def test_too_large_by_what_is_told_and_by_what_comes(hub: HubServer) -> None:
    hub.add("org/name", {"config.json": b" " * (MAX_BYTES + 1)})
    hub.add("org/apart", {"config.json": b" " * (MAX_BYTES + 1)}, stored_apart=frozenset({"config.json"}))
    for name in ("org/name", "org/apart"):
        refused("too_large", "config.json is larger than 8 MiB", name=name)
    # Told in chunks, without a length.
    hub.fail("GET .*/config.json", headers={"Transfer-Encoding": "chunked"}, length=0, body=chunked(MAX_BYTES + 1))
    refused("too_large")


def chunked(size: int) -> bytes:
    return b"%x\r\n%b\r\n0\r\n\r\n" % (size, b" " * size)


def test_a_list_without_end(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fse_core.read.hub_direct._MOST_TOLD", 10)
    hub.add("org/name", FILES)
    refused("broken", "about the revision")


@pytest.mark.parametrize(
    ("where", "how"),
    [
        ("GET /api", {"delay": 30.0}),
        ("GET /api", {"drip": 0.2}),
        ("GET .*config", {"delay": 30.0}),
        ("GET .*config", {"drip": 0.2}),
    ],
    ids=str,
)
def test_total_deadline(hub: HubServer, where: str, how: dict[str, Any]) -> None:
    hub.add("org/name", FILES)
    hub.fail(where, **how)
    start = time.monotonic()
    refused("unreachable", "within 0.8 s", deadline=0.8)
    assert time.monotonic() - start < 3


def test_offline(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.add("org/name", FILES)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    refused("offline")
    assert hub.asked() == []
