"""Reads headers from the Hub as the tests here do, and tells what was refused and fetched."""

import time
from collections.abc import Mapping
from typing import Any

import pytest

from fse_core.errors import FetchError, FetchKind
from fse_core.read.hub import asking
from fse_core.read.safetensors.collect import collect
from fse_core.read.safetensors.facts import Headers
from fse_core.read.safetensors.hub import HubCheckpoint
from fse_core.read.safetensors.ranges import Budget
from fse_core.read.safetensors.sample import Kinds
from fse_core.read.safetensors.store import Store
from tests.hub_server import Hollow, HubServer
from tests.safetensors_files import Entry

A: Mapping[str, Entry] = {"a.weight": ("BF16", (1 << 20, 1 << 10))}  # 2 GiB
ONE = "model.safetensors"
TOKEN = "hf_secret"
GUESS = 64 * 1024
FETCH = f"GET .*/{ONE}"


def add(hub: HubServer, files: Mapping[str, Hollow | bytes], **options: Any) -> str:
    """A repository whose large files are on the second host; its commit."""
    apart = frozenset(name for name in files if name.endswith(".safetensors"))
    return hub.add("org/name", files, **{"stored_apart": apart, **options}).refs["main"]


def budget(seconds: float = 300.0, most: int = 100 * 1024 * 1024) -> Budget:
    return Budget(until=time.monotonic() + seconds, most=most)


def read(
    commit: str,
    *,
    token: str | bool = False,
    spent: Budget | None = None,
    store: Store | None = None,
    kinds: Kinds = (),
) -> Headers:
    asked = asking("org/name", "main", token if isinstance(token, str) else False)
    place = HubCheckpoint(asked, commit, spent or budget(), store)
    return collect(place, "sample" if kinds else "full", kinds)


def refused(commit: str, kind: FetchKind, *parts: str, **options: Any) -> FetchError:
    with pytest.raises(FetchError) as caught:
        read(commit, **options)
    assert caught.value.kind == kind, caught.value.message
    for part in parts:
        assert part in caught.value.message
    assert TOKEN not in str(caught.value)
    return caught.value


def unreadable(found: Headers) -> str:
    assert [problem.kind for problem in found.problems] == ["unreadable_file"]
    return found.problems[0].message


def fetched(hub: HubServer) -> list[str]:
    """The ranges that were asked of the second host."""
    return [request.headers.get("range", "all") for request in hub.requests if request.host == "cdn"]
