"""The Hub reader, through the real client, against a server that speaks the Hub's API."""

import json
import logging
import sys
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from fse_core.errors import FetchError, FetchKind, InputError
from fse_core.read.document import MAX_BYTES
from fse_core.read.source import read_model
from fse_core.report import Source
from tests.hub_server import HubServer

CONFIG = json.dumps({"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3"}).encode()
QUANT = json.dumps({"quantization": {"quant_algo": "FP8"}}).encode()
FILES = {"config.json": CONFIG, "hf_quant_config.json": QUANT, "modeling_custom.py": b"raise SystemExit('ran')"}
NO_COMMIT = "0" * 40


def refused(source: str, kind: FetchKind, *parts: str, **options: Any) -> FetchError:
    with pytest.raises(FetchError) as caught:
        read_model(source, **options)
    assert caught.value.kind == kind, caught.value.message
    for part in parts:
        assert part in caught.value.message
    return caught.value


def test_one_commit_for_every_file(hub: HubServer) -> None:
    commit = hub.add("org/name", FILES).refs["main"]
    model = read_model("org/name")
    assert model.source == Source(kind="hub", id="org/name", revision="main", commit=commit)
    assert model.architecture == "DeepseekV3ForCausalLM"
    assert model.quantization is not None
    assert model.quantization.file == "hf_quant_config.json"
    asked = hub.asked()
    assert sum("/api/models" in line for line in asked) == 1
    assert {line.split("/resolve/")[1] for line in asked if "/resolve/" in line} == {
        f"{commit}/config.json",
        f"{commit}/hf_quant_config.json",
    }


def test_branch_that_moves_in_between(hub: HubServer) -> None:
    repo = hub.add("org/name", FILES)
    old = repo.refs["main"]
    hub.fail("GET /api", times=1, after=lambda: repo.push({"config.json": b'{"architectures": ["New"]}'}))
    model = read_model("org/name")
    assert (model.source.commit, model.architecture) == (old, "DeepseekV3ForCausalLM")
    assert model.hf_quant_config is not None
    assert read_model("org/name").architecture == "New"


@pytest.mark.parametrize("ref", ["v1.0", "refs/pr/4", "feature/a+b#c", "é"])
def test_named_revision(hub: HubServer, ref: str) -> None:
    commit = hub.add("org/name", FILES).push({"config.json": b'{"architectures": ["Other"]}'}, ref)
    model = read_model(f"org/name@{ref}")
    assert model.source == Source(kind="hub", id="org/name", revision=ref, commit=commit)
    assert (model.architecture, model.hf_quant_config) == ("Other", None)


def test_commit_needs_no_look_up_and_the_cache_no_request(hub: HubServer) -> None:
    commit = hub.add("org/name", FILES).refs["main"]
    first = read_model(f"org/name@{commit}")
    assert not any("/api/" in line for line in hub.asked())
    hub.requests.clear()
    assert read_model(f"org/name@{commit}").source == first.source
    assert hub.asked() == []


def test_name_without_an_organisation(hub: HubServer) -> None:
    hub.add("gpt2", FILES)
    assert read_model("gpt2").source.id == "gpt2"


def test_renamed_repository(hub: HubServer) -> None:
    commit = hub.add("new/name", FILES).refs["main"]
    hub.renamed["old/name"] = "new/name"
    assert read_model("old/name").source.commit == commit


def test_second_host_gets_no_token(hub: HubServer) -> None:
    hub.add("org/name", FILES, stored_apart=frozenset(FILES), private=True)
    hub.tokens["hf_reader"] = {"org/name"}
    assert read_model("org/name", token="hf_reader").hf_quant_config is not None
    tokens = {host: {request.token for request in hub.requests if request.host == host} for host in ("hub", "cdn")}
    assert tokens == {"hub": {"hf_reader"}, "cdn": {None}}


def test_no_file_but_the_two_is_asked_for(hub: HubServer) -> None:
    hub.add("org/name", FILES)
    read_model("org/name")
    assert not any("modeling_custom" in line for line in hub.asked())


def test_gated(hub: HubServer) -> None:
    hub.add("org/name", FILES, gated=True)
    hub.tokens.update(hf_other=set(), hf_reader={"org/name"})
    refused("org/name", "gated", "org/name is gated", "ask for access", "--token-file")
    refused("org/name", "gated", "no access to it", token="hf_other")
    assert read_model("org/name", token=" hf_reader\n").architecture


def test_private_or_missing(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.add("org/secret", FILES, private=True)
    hub.tokens.update(hf_other=set(), hf_reader={"org/secret"})
    for name in ("org/secret", "org/none"):
        refused(name, "missing_repo", "no such repository", "or a private one", "HF_TOKEN")
        refused(name, "missing_repo", "no such repository", "the token is not valid", token="hf_other")
        refused(name, "bad_token", "did not accept the token", token="hf_invalid")
    monkeypatch.setenv("HF_TOKEN", "hf_reader")
    assert read_model("org/secret").architecture


def test_argument_goes_before_the_environment(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.add("org/name", FILES)
    hub.tokens["hf_argument"] = set()
    monkeypatch.setenv("HF_TOKEN", "hf_environment")
    read_model("org/name", token="hf_argument")
    assert {request.token for request in hub.requests} == {"hf_argument"}


def test_disabled(hub: HubServer) -> None:
    hub.add("org/name", FILES, disabled=True)
    refused("org/name", "missing_repo", "has disabled access")


@pytest.mark.parametrize("revision", ["nope", NO_COMMIT])
def test_missing_revision(hub: HubServer, revision: str) -> None:
    hub.add("org/name", FILES)
    refused(f"org/name@{revision}", "missing_revision", f"no branch, tag or commit {revision}")


def test_missing_config(hub: HubServer) -> None:
    hub.add("org/name", {"params.json": b"{}"})
    refused("org/name", "missing_file", "has no config.json at commit")


def test_answers_without_codes(hub: HubServer) -> None:
    """A mirror may leave out X-Error-Code: the status has to do."""
    hub.add("org/name", FILES)
    hub.fail("/api/models/org/none", status=404, body=b"<html>")
    hub.fail("hf_quant_config.json", status=404)
    refused("org/none", "missing_repo")
    hub.fail("/api/models/org/closed", status=403)
    refused("org/closed", "gated")


@pytest.mark.parametrize("where", ["GET /api", "HEAD .*config.json"])
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "37"}, 37),
        ({"RateLimit": '"api";r=0;t=55', "RateLimit-Policy": '"fixed window";"api";q=500;w=300'}, 55),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_rate_limited(hub: HubServer, where: str, headers: dict[str, str], seconds: float | None) -> None:
    hub.add("org/name", FILES)
    hub.fail(where, status=429, headers=headers)
    told = "later" if seconds is None else f"in {seconds} s"
    error = refused("org/name", "rate_limited", told, "a token")
    assert error.retry_after == seconds
    assert len(hub.asked()) <= 2


def test_rate_limited_until_a_date(hub: HubServer) -> None:
    hub.fail("/api", status=429, headers={"Retry-After": format_datetime(datetime.now(UTC) + timedelta(seconds=90))})
    error = refused("org/name", "rate_limited")
    assert error.retry_after is not None
    assert 80 < error.retry_after <= 90


@pytest.mark.parametrize("status", [500, 502, 503, 504, 408])
def test_hub_is_down(hub: HubServer, status: int) -> None:
    hub.add("org/name", FILES)
    hub.fail("GET /api", status=status, times=1)
    refused("org/name", "unreachable", f"status {status}", "HF_HUB_OFFLINE=1")
    hub.fail("HEAD .*config.json", status=status)
    refused("org/name", "unreachable", f"status {status}")


def test_nothing_listens(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://user:hf_secret@127.0.0.1:9")
    error = refused("org/name", "unreachable", "127.0.0.1:9 cannot be reached (ConnectError)")
    assert "hf_secret" not in str(error)


@pytest.mark.parametrize(
    ("where", "how"),
    [
        ("GET /api", {"delay": 30.0}),
        ("GET /api", {"drip": 0.2}),
        ("HEAD .*config", {"delay": 30.0}),
        ("GET /org/name/resolve", {"drip": 0.2}),
        ("GET /org/name/resolve", {"status": 429, "headers": {"Retry-After": "300"}}),
    ],
)
def test_total_deadline(hub: HubServer, where: str, how: dict[str, Any]) -> None:
    hub.add("org/name", FILES)
    hub.fail(where, **how)
    start = time.monotonic()
    refused("org/name", "unreachable", "no complete answer within 0.8 s", deadline=0.8)
    assert time.monotonic() - start < 15  # on a busy machine too; without a deadline it takes twice that, or for ever


def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def test_offline_uses_the_cached_commit_and_says_which(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = hub.add("org/name", FILES)
    old = repo.refs["main"]
    online = read_model("org/name")
    repo.push({"config.json": b"{}"})
    hub.requests.clear()
    offline(monkeypatch)
    for source in ("org/name", "org/name@main", f"org/name@{old}"):
        model = read_model(source)
        assert (model.source.commit, model.architecture) == (old, online.architecture)
        assert model.hf_quant_config is not None
    assert hub.asked() == []


def test_offline_and_not_cached(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = hub.add("org/name", FILES).refs["main"]
    offline(monkeypatch)
    refused("org/name", "offline", "not in the cache", "HF_HUB_OFFLINE unset")
    refused(f"org/name@{commit}", "offline", "config.json is not in the cache")
    assert hub.asked() == []


def test_offline_without_a_quantization_file(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.add("org/name", {"config.json": CONFIG})
    read_model("org/name")
    offline(monkeypatch)
    assert read_model("org/name").hf_quant_config is None


def test_hub_out_of_reach_and_a_cache(hub: HubServer) -> None:
    repo = hub.add("org/name", FILES)
    commit = read_model("org/name").source.commit
    repo.push({"config.json": b"{}"})
    hub.fail("/api", hang_up=True)
    assert read_model("org/name").source.commit == commit


def test_too_large_is_never_fetched(hub: HubServer) -> None:
    hub.add("org/name", {"config.json": b" " * (MAX_BYTES + 1)})
    hub.add("org/apart", {"config.json": b" " * (MAX_BYTES + 1)}, stored_apart=frozenset({"config.json"}))
    for name in ("org/name", "org/apart"):
        refused(name, "too_large", "config.json is larger than 8 MiB")
    assert not any(line.startswith("GET") and "/api/" not in line for line in hub.asked())


def test_size_that_was_a_lie(hub: HubServer) -> None:
    hub.add("org/name", FILES)
    hub.fail("GET /org/name/resolve", body=b" " * (3 * MAX_BYTES))
    refused("org/name", "too_large")


def test_too_large_in_the_cache(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.add("org/name", FILES)
    read_model("org/name")
    monkeypatch.setattr("fse_core.read.hub.MAX_BYTES", 10)
    refused("org/name", "too_large")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"{}", b'{"sha": null, "id": "a"}', b'{"sha": "main", "id": "a"}', b"\xff\xfe"]
)
def test_garbage_for_the_revision(hub: HubServer, body: bytes) -> None:
    hub.add("org/name", FILES)
    hub.fail("/api", body=body)
    refused("org/name", "broken", "check HF_ENDPOINT")


@pytest.mark.parametrize("body", [b"[1]", b'{"errors": 3}', b'"x"'])
def test_garbage_for_an_error(hub: HubServer, body: bytes) -> None:
    hub.fail("/api", status=404, body=body)
    refused("org/name", "broken")


@pytest.mark.parametrize(
    "how",
    [
        {"headers": {"X-Repo-Commit": ""}},
        {"headers": {"X-Repo-Commit": NO_COMMIT}},
        {"headers": {"ETag": ""}},
        {"status": 400},
        {"status": 302, "headers": {"Location": "/org/name/resolve/main/config.json"}},
    ],
)
def test_file_that_is_not_answered_as_the_hub_does(hub: HubServer, how: dict[str, Any]) -> None:
    hub.add("org/name", FILES)
    hub.fail("HEAD .*config.json", **how)
    refused("org/name", "broken")


def test_body_cut_short(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda seconds: None)
    hub.add("org/name", FILES)
    hub.fail("GET /org/name/resolve", cut=7)
    refused("org/name", "broken")


def test_connection_closed_without_an_answer(hub: HubServer) -> None:
    hub.add("org/name", FILES)
    hub.fail("GET /api", hang_up=True)
    refused("org/name", "broken")


def test_config_that_is_no_json(hub: HubServer) -> None:
    hub.add("org/name", {"config.json": b"{nope"})
    with pytest.raises(InputError, match=r"^config\.json: is not JSON"):
        read_model("org/name")


def test_cache_that_cannot_be_written(hub: HubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "file" / "hub"))
    hub.add("org/name", FILES)
    refused("org/name", "broken", "cache cannot be used", "HF_HOME")


@pytest.mark.parametrize(
    "source", ["org/name.git", "org/a--b", "org/a..b", "a b", "org/na me", "-x", "org/" + "n" * 97, "o:r", "名/前"]
)
def test_id_by_the_clients_own_rules(hub: HubServer, source: str) -> None:
    with pytest.raises(InputError, match="neither a file or folder here nor a Hub id"):
        read_model(source)
    assert hub.asked() == []


@pytest.mark.parametrize(
    "revision", ["", "a b", "../../x", "a..b", "/x", "x/", "-x", "a:b", "a\n", "a//b", "x^", "y~1"]
)
def test_revision_that_git_does_not_allow(hub: HubServer, revision: str) -> None:
    with pytest.raises(InputError):
        read_model(f"org/name@{revision}")
    assert hub.asked() == []


@pytest.mark.parametrize("token", ["", " ", "hf_two words", "hf_new\nline", "hf_é", "hf_\x00"])
def test_token_that_no_header_can_hold(hub: HubServer, token: str) -> None:
    with pytest.raises(InputError) as caught:
        read_model("org/name", token=token)
    assert caught.value.path == "token"
    assert "hf_" not in str(caught.value)


def test_token_of_the_environment_that_no_header_can_hold(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_sécret")
    error = refused("org/name", "broken", "the token")
    assert "cret" not in str(error)


def test_token_is_nowhere_to_be_seen(hub: HubServer, caplog: pytest.LogCaptureFixture) -> None:
    hub.tokens["hf_precious"] = set()
    hub.add("org/name", FILES, gated=True)
    errors = [refused("org/none", "missing_repo", token="hf_precious")]
    with caplog.at_level(logging.DEBUG):
        errors.append(refused("org/name", "gated", token="hf_precious"))
        hub.fail("HEAD", status=500)
        errors.append(refused("org/name", "unreachable", token="hf_precious"))
    from fse_core.read.hub_errors import Asked

    seen = caplog.text + repr(Asked(repo="a", revision="b", endpoint="http://c", token="hf_precious"))
    seen += "".join(f"{error}{error!r}" for error in errors)
    assert "hf_precious" not in seen


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r"pip install 'vllm-fse\[hub\]'"):
        read_model("org/name")
