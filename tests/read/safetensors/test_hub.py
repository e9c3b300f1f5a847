"""Headers from the Hub by the real client's session, and every way in which that can fail.

Nothing here may end in another error than an InputError or a FetchError, read a file as a whole, or show the token.
"""

import json
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

from fse_core.errors import FetchError, InputError
from fse_core.read.hub import asking
from fse_core.read.safetensors.hub import HubCheckpoint
from tests.hub_server import Hollow, HubServer
from tests.read.safetensors.reading import FETCH, GUESS, ONE, TOKEN, A, add, budget, fetched, read, refused, unreadable
from tests.safetensors_files import INDEX, entries, file, header, index


def test_a_file_of_gigabytes_costs_three_requests(hub: HubServer) -> None:
    whole = file(A, {"format": "pt"})
    found = read(add(hub, {ONE: whole}))
    assert found.files[ONE].size == whole.size > 2**31
    assert (found.tensors["a.weight"].shape, found.problems, found.complete) == ((1 << 20, 1 << 10), (), True)
    assert len(hub.requests) == 3
    assert fetched(hub) == [f"bytes=0-{GUESS - 1}"]
    assert hub.sent < 2 * GUESS


@pytest.mark.parametrize("length", [*range(99_990, 100_011), *range(GUESS - 12, GUESS + 4), 3, 2_000_000])
def test_a_header_of_any_length(hub: HubServer, length: int) -> None:
    whole = file(A, pad=length)
    found = read(add(hub, {ONE: whole}))
    assert set(found.tensors) == set(A)
    end = len(whole.head)
    assert fetched(hub) == [f"bytes=0-{GUESS - 1}", *([f"bytes={GUESS}-{end - 1}"] if end > GUESS else [])]


def test_what_one_header_took_is_asked_for_the_next(hub: HubServer) -> None:
    files = {f"model-{n:05}-of-00003.safetensors": file({f"{n}": ("U8", (1 << 30,))}, pad=90_000) for n in (1, 2, 3)}
    commit = add(hub, files)
    place = HubCheckpoint(asking("org/name", "main", False), commit, budget(), None)
    for name in files:
        place.header(name)
    assert fetched(hub) == ["bytes=0-65535", "bytes=65536-90007", "bytes=0-90007", "bytes=0-90007"]


def test_the_rest_is_asked_where_the_first_answer_came_from(hub: HubServer) -> None:
    read(add(hub, {ONE: file(A, pad=100_000)}))
    assert [request.host for request in hub.requests] == ["hub", "hub", "cdn", "cdn"]


def test_a_small_file_on_the_hub_itself(hub: HubServer) -> None:
    whole = file({"a": ("U8", (3,))})
    found = read(add(hub, {ONE: whole.head + b"123"}, stored_apart=frozenset()))
    assert (found.files[ONE].size, found.problems) == (whole.size, ())


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "has 0 bytes"),
        (b"1234567", "has 7 bytes"),
        (Hollow(header(b"", size=0), 1 << 40), "a header of 0 bytes"),
        (Hollow(header(b"{}", size=2**63), 1 << 40), "more than 25,000,000 are not read"),
        (Hollow(header(b"{}", size=25_000_001), 1 << 40), "more than 25,000,000 are not read"),
        (Hollow(header([1]), 1 << 40), "does not start as a JSON object"),
        (Hollow(header({"a": 3}), 1 << 40), '"a": expected an object'),
        (Hollow(header(b'{"\xff": 3}'), 1 << 40), "not UTF-8"),
        (Hollow(header(b'{"a": 3, "a": 3}'), 1 << 40), "more than once"),
        (Hollow(header({"a": {"dtype": "F7", "shape": [1], "data_offsets": [0, 1]}}), 1 << 40), '"F7"'),
        (Hollow(header(entries(A)[0]), 1 << 30), "cut short"),
    ],
    ids=range(11),
)
def test_what_is_no_safetensors_file(hub: HubServer, data: Hollow | bytes, part: str) -> None:
    assert part in unreadable(read(add(hub, {ONE: data})))
    assert hub.sent < 3 * GUESS


def test_a_server_that_ignores_ranges(hub: HubServer) -> None:
    commit = add(hub, {ONE: file(A)})
    hub.ranges = False
    refused(commit, "broken", "ignored the Range")
    # What was on its way before the connection was closed, of 2 GiB.
    assert hub.sent < 16 * 1024 * 1024


@pytest.mark.parametrize(
    "told", ["", "bytes", "bytes 0-5", "bytes 1-65536/2147483725", "bytes 0-9/2147483725", "bytes */9"]
)
def test_a_part_that_is_not_the_one_asked_for(hub: HubServer, told: str) -> None:
    commit = add(hub, {ONE: file(A)})
    hub.fail("GET /blobs", headers={"Content-Range": told})
    refused(commit, "broken")


@pytest.mark.parametrize(
    "how",
    [
        {"body": b"short"},
        {"body": b"x" * GUESS * 2},
        {"body": b"x" * GUESS * 2, "headers": {"Transfer-Encoding": "chunked"}},
        {"headers": {"Content-Encoding": "gzip"}},
        {"headers": {"Content-Length": "many"}},
        {"status": 204},
        {"status": 302},
        {"status": 302, "headers": {"Location": "http://["}},
        {"status": 418},
    ],
    ids=str,
)
@pytest.mark.parametrize("where", ["GET /blobs", FETCH])
def test_not_as_the_hub_answers(hub: HubServer, where: str, how: dict[str, Any]) -> None:
    commit = add(hub, {ONE: file(A)}, stored_apart=frozenset({ONE} if where == "GET /blobs" else ()))
    hub.fail(where, **how)
    refused(commit, "broken")


def test_a_file_of_another_size_than_listed(hub: HubServer) -> None:
    commit = add(hub, {ONE: file(A)})
    hub.fail("GET /api", body=json.dumps({"sha": commit, "siblings": [{"rfilename": ONE, "size": 1 << 32}]}).encode())
    refused(commit, "broken", "with 4,294,967,296 bytes and sends it with")


def test_a_file_listed_as_too_small_is_not_asked_for(hub: HubServer) -> None:
    assert "has 5 bytes" in unreadable(read(add(hub, {ONE: b"12345"})))
    assert fetched(hub) == []


def test_parts_of_two_files(hub: HubServer) -> None:
    commit = add(hub, {ONE: file(A, pad=GUESS)})
    hub.fail("GET /api", body=json.dumps({"sha": commit, "siblings": [{"rfilename": ONE}]}).encode())
    other = Hollow(file(A, pad=GUESS).head, 1 << 33)
    told = {"Content-Range": f"bytes {GUESS}-{GUESS + 7}/{1 << 33}"}

    def changed() -> None:
        hub.fail("GET /blobs", body=other[GUESS : GUESS + 8], headers=told)

    hub.fail("GET /blobs", times=1, after=changed)
    refused(commit, "broken", "of different files")


class TestToken:
    """Who gets it, and where a redirect may lead."""

    def test_the_second_host_does_not(self, hub: HubServer) -> None:
        hub.tokens[TOKEN] = {"org/name"}
        commit = add(hub, {ONE: file(A, pad=100_000)}, private=True)
        assert read(commit, token=TOKEN).problems == ()
        tokens = {host: {request.token for request in hub.requests if request.host == host} for host in ("hub", "cdn")}
        assert tokens == {"hub": {TOKEN}, "cdn": {None}}

    @pytest.mark.parametrize("where", ["GET /api", FETCH, "GET /blobs"])
    @pytest.mark.parametrize(
        "target",
        [
            "https://example.com/x",
            "http://localhost:{port}/x",
            "http://huggingface.co/x",
            "http://127.0.0.1@example.com/x",
            "http://user:pass@127.0.0.1:{port}/x",
            "ftp://127.0.0.1/x",
            "file:///etc/passwd",
            "https://huggingface.co.example.com/x",
            "https://evilhuggingface.co/x",
            "https://example.com\\.hf.co/x",
            "http://169.254.169.254/latest/meta-data",
            "//example.com/x",
            "http://127.0.0.1:99999/x",
        ],
    )
    def test_no_other_host_is_asked(self, hub: HubServer, where: str, target: str) -> None:
        hub.tokens[TOKEN] = {"org/name"}
        commit = add(hub, {ONE: file(A)})
        location = target.replace("{port}", str(urlsplit(hub.cdn_url).port))
        hub.fail(where, status=302, headers={"Location": location})
        refused(commit, "broken", "redirected to", token=TOKEN)
        assert not any("/x" in line or "latest" in line for line in hub.asked())

    def test_redirects_without_end(self, hub: HubServer) -> None:
        commit = add(hub, {ONE: file(A)})
        hub.fail("GET /blobs", status=302, headers={"Location": "/blobs/x"})
        refused(commit, "broken", "without an end")
        assert len(hub.requests) < 10

    def test_a_renamed_repository(self, hub: HubServer) -> None:
        commit = add(hub, {ONE: file(A)})
        hub.repos["new/name"] = hub.repos.pop("org/name")
        hub.renamed["org/name"] = "new/name"
        assert read(commit).problems == ()


class TestRefusals:
    """What the Hub says no to."""

    def test_a_missing_repository_and_a_private_one(self, hub: HubServer) -> None:
        commit = add(hub, {ONE: file(A)}, private=True)
        refused(commit, "missing_repo", "no such repository")
        hub.repos.clear()
        hub.tokens[TOKEN] = set()
        refused(commit, "missing_repo", token=TOKEN)

    def test_a_gated_repository(self, hub: HubServer) -> None:
        commit = add(hub, {ONE: file(A)}, gated=True)
        refused(commit, "gated", "ask for access")
        hub.tokens[TOKEN] = set()
        refused(commit, "gated", "no access", token=TOKEN)

    def test_a_token_that_is_none(self, hub: HubServer) -> None:
        refused(add(hub, {ONE: file(A)}), "bad_token", token=TOKEN)

    def test_a_commit_that_is_gone(self, hub: HubServer) -> None:
        add(hub, {ONE: file(A)})
        refused("0" * 40, "missing_revision")

    def test_a_file_that_is_listed_and_gone(self, hub: HubServer) -> None:
        commit = add(hub, {ONE: file(A)})
        hub.fail(
            "GET /api", body=json.dumps({"sha": commit, "siblings": [{"rfilename": "model-x.safetensors"}]}).encode()
        )
        refused(commit, "missing_file", "model-x.safetensors")

    def test_a_file_that_the_index_names_and_nobody_has(self, hub: HubServer) -> None:
        found = read(add(hub, {ONE: file(A), INDEX: index({"a.weight": ONE, "b": "model-b.safetensors"})}))
        assert [(problem.kind, problem.file) for problem in found.problems] == [("missing_file", "model-b.safetensors")]

    def test_an_index_that_leads_out_of_the_repository(self, hub: HubServer) -> None:
        commit = add(hub, {ONE: file(A), INDEX: index({"a.weight": "../../other/name/resolve/main/x.safetensors"})})
        with pytest.raises(InputError, match="weight_map"):
            read(commit)
        assert not any("other" in line for line in hub.asked())

    def test_the_second_host_refuses(self, hub: HubServer) -> None:
        commit = add(hub, {ONE: file(A)})
        hub.fail("GET /blobs", status=403)
        refused(commit, "broken", "redirected to 127.0.0.1, which answered with status 403")

    @pytest.mark.parametrize("commit", ["", "0" * 40])
    def test_a_file_of_another_commit(self, hub: HubServer, commit: str) -> None:
        mine = add(hub, {ONE: file(A)})
        hub.fail(FETCH, headers={"X-Repo-Commit": commit})
        refused(mine, "broken", "of another commit")

    def test_the_branch_moves_on_the_way(self, hub: HubServer) -> None:
        commit = add(hub, {ONE: file(A)})
        hub.fail("GET /api", times=1, after=lambda: hub.repos["org/name"].push({ONE: file({"new": ("U8", (1,))})}))
        assert set(read(commit).tensors) == set(A)

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"[]",
            b"{}",
            b'{"sha": null}',
            b'{"sha": "SHA"}',
            b'{"sha": "SHA", "siblings": {}}',
            b"\xff",
            b'{"sha": "SHA", "siblings": [3]}',
            b'{"sha": "SHA", "siblings": [{"rfilename": []}]}',
        ],
    )
    def test_a_list_of_files_that_is_none(self, hub: HubServer, body: bytes) -> None:
        commit = add(hub, {ONE: file(A)})
        hub.fail("GET /api", body=body.replace(b"SHA", commit.encode()))
        if b"{}}" in body:
            assert [problem.kind for problem in read(commit).problems] == ["no_files"]
        else:
            refused(commit, "broken")

    def test_files_below_the_root_are_none_of_the_models(self, hub: HubServer) -> None:
        found = read(add(hub, {ONE: file(A), "old/model.safetensors": file(A), "x.bin": b"1"}))
        assert set(found.files) == {ONE}

    def test_offline(self, hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
        commit = add(hub, {ONE: file(A)})
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        refused(commit, "offline")
        assert hub.requests == []


class TestPatience:
    """Asking again, and when to stop."""

    @pytest.mark.parametrize("status", [429, 502, 503, 504])
    @pytest.mark.parametrize("where", ["GET /api", FETCH, "GET /blobs"])
    def test_a_busy_host_is_asked_again(self, hub: HubServer, where: str, status: int) -> None:
        commit = add(hub, {ONE: file(A)})
        hub.fail(where, status=status, times=1, headers={"Retry-After": "0"})
        assert read(commit).problems == ()

    @pytest.mark.parametrize("how", [{"hang_up": True}, {"cut": 7}], ids=str)
    @pytest.mark.parametrize("where", ["GET /api", "GET /blobs"])
    def test_a_dropped_connection_is_opened_again(self, hub: HubServer, where: str, how: dict[str, Any]) -> None:
        commit = add(hub, {ONE: file(A)})
        hub.fail(where, times=1, **how)
        assert read(commit).problems == ()

    def test_what_retry_after_says_is_waited(self, hub: HubServer) -> None:
        commit = add(hub, {ONE: file(A)})
        hub.fail(FETCH, status=429, times=1, headers={"Retry-After": "1"})
        start = time.monotonic()
        read(commit)
        assert time.monotonic() - start >= 1

    @pytest.mark.parametrize("headers", [{"Retry-After": "300"}, {"RateLimit": '"resolvers";r=0;t=300'}], ids=str)
    def test_what_takes_too_long_is_not_waited(self, hub: HubServer, headers: dict[str, str]) -> None:
        commit = add(hub, {ONE: file(A)})
        hub.fail(FETCH, status=429, headers=headers)
        start = time.monotonic()
        assert refused(commit, "rate_limited", "in 300 s").retry_after == 300
        assert time.monotonic() - start < 60
        assert len(hub.requests) == 2

    def test_a_host_that_stays_busy(self, hub: HubServer) -> None:
        commit = add(hub, {ONE: file(A)})
        hub.fail("GET /blobs", status=503, headers={"Retry-After": "0"})
        refused(commit, "broken", "status 503")
        assert len(fetched(hub)) == 5

    @pytest.mark.parametrize("how", [{"delay": 30.0}, {"drip": 0.05}, {"status": 503}, {"hang_up": True}], ids=str)
    @pytest.mark.parametrize("where", ["GET /api", FETCH, "GET /blobs"])
    def test_no_longer_than_the_deadline(self, hub: HubServer, where: str, how: dict[str, Any]) -> None:
        commit = add(hub, {ONE: file(A)}, stored_apart=frozenset({ONE} if "blobs" in where else ()))
        hub.fail(where, **how)
        start = time.monotonic()
        with pytest.raises(FetchError):
            read(commit, spent=budget(seconds=1.0))
        assert time.monotonic() - start < 20

    def test_no_more_bytes_than_allowed(self, hub: HubServer) -> None:
        files = {f"model-{n}.safetensors": file({f"{n}": ("U8", (1 << 30,))}) for n in range(40)}
        refused(add(hub, files), "too_large", spent=budget(most=1024 * 1024))
        assert len(fetched(hub)) < 40

    def test_an_index_that_is_too_large(self, hub: HubServer) -> None:
        commit = add(hub, {ONE: file(A), INDEX: Hollow(b"{", 1 << 31)})
        refused(commit, "broken", "more than was asked for")
        assert hub.sent < 16 * 1024 * 1024
