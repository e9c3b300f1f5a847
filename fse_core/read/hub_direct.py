"""A model's config files from the Hub straight into memory, for who keeps them elsewhere: no cache is read or written.

Asked through the client's own session, so that endpoint, proxies and offline mode are the client's. Two requests bring
what most models have; what is not on the Hub's list of files is not asked for.
"""

import json
import time
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from fse_core.errors import FetchError
from fse_core.read.deadline import GRACE, within
from fse_core.read.document import MAX_BYTES
from fse_core.read.hub import CLIENT, COMMIT, PATIENCE, HubFiles, asking, no_config, source_at
from fse_core.read.hub_errors import Asked, Stage, Token, told
from fse_core.read.model import CONFIG_FILE, HF_QUANT_FILE
from fse_core.report import Source

_MOST_LISTED: Final = 10_000
"""The Hub's list of a repository's files is taken as whole up to here."""

_MOST_TOLD: Final = 4 * MAX_BYTES
"""Bytes that such a list may have."""


@dataclass(frozen=True, kw_only=True)
class Latest:
    """The commit that a revision stands for now, with its files or why they cannot be had; None if it was known."""

    source: Source
    files: HubFiles | FetchError | None


def latest(
    name: str, revision: str, *, token: Token = None, known: str | None = None, deadline: float = 30.0
) -> Latest:
    """The commit of the revision and its files, unless it is the commit `known`, whose files the caller has."""
    asked = asking(name, revision, token)
    until = time.monotonic() + deadline + GRACE
    return within(deadline, lambda: _latest(asked, known, until), what=name)


def files_at(source: Source, *, token: Token = None, deadline: float = 30.0) -> HubFiles:
    """The config files of a commit."""
    assert source.commit is not None
    commit = source.commit
    asked = asking(source.id, source.revision or commit, token)
    until = time.monotonic() + deadline + GRACE
    return within(deadline, lambda: _files(asked, commit, frozenset(), until), what=source.id)


def _latest(asked: Asked, known: str | None, until: float) -> Latest:
    commit, listed = _commit(asked, until)
    source = source_at(asked, commit)
    if commit == known:
        return Latest(source=source, files=None)
    try:
        return Latest(source=source, files=_files(asked, commit, listed, until))
    except FetchError as error:
        return Latest(source=source, files=error)


def _files(asked: Asked, commit: str, listed: frozenset[str], until: float) -> HubFiles:
    config = _file(asked, commit, CONFIG_FILE, until)
    if config is None:
        raise no_config(asked, commit)
    # A list without the file that has just come does not tell what else there is.
    absent = CONFIG_FILE in listed and HF_QUANT_FILE not in listed
    quantization = None if absent else _file(asked, commit, HF_QUANT_FILE, until)
    return HubFiles(source=source_at(asked, commit), config=config, hf_quant_config=quantization)


def _commit(asked: Asked, until: float) -> tuple[str, frozenset[str]]:
    """The commit, and the names of its files as far as they are known to be all. A commit is taken at its word."""
    if COMMIT.fullmatch(asked.revision):
        return asked.revision, frozenset()
    url = f"{asked.endpoint}/api/models/{asked.repo}/revision/{quote(asked.revision, safe='')}"
    params = {"expand": ["sha", "siblings"]}
    excess = asked.broken(f"told more than {_MOST_TOLD // 1024**2} MiB about the revision")
    with told(asked, "repo"):
        told_of = json.loads(_got(asked, "repo", url, until, _MOST_TOLD, excess, params=params)[0])
        commit, files = told_of["sha"], told_of.get("siblings")
        if not COMMIT.fullmatch(commit):
            raise asked.broken("named no commit for the revision")
        if not isinstance(files, list) or len(files) > _MOST_LISTED:
            return commit, frozenset()
        return commit, frozenset(file["rfilename"] for file in files)


def _file(asked: Asked, commit: str, name: str, until: float) -> bytes | None:
    from huggingface_hub import hf_hub_url
    from huggingface_hub.errors import EntryNotFoundError

    url = hf_hub_url(asked.repo, name, revision=commit)
    try:
        body, of = _got(asked, "file", url, until, MAX_BYTES, asked.too_large(name))
    except EntryNotFoundError:
        return None
    if of != commit:
        raise asked.broken(f"gave {name} of another commit than the one asked for")
    return body


def _got(
    asked: Asked, stage: Stage, url: str, until: float, most: int, excess: FetchError, **options: Any
) -> tuple[bytes, str | None]:
    """The body, and the commit that it was told to be of. Asked again once where the connection was dropped: one that
    was kept open may have been closed by then.
    """
    with told(asked, stage):
        try:
            return _received(asked, url, until, most, excess, **options)
        except Exception as error:
            if not {kind.__name__ for kind in type(error).__mro__} & {"RemoteProtocolError", "ReadError"}:
                raise
        return _received(asked, url, until, most, excess, **options)


def _received(
    asked: Asked, url: str, until: float, most: int, excess: FetchError, **options: Any
) -> tuple[bytes, str | None]:
    from huggingface_hub import constants, get_session
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status  # type: ignore[attr-defined]

    # Not compressed: the size that is told is then the size that comes.
    headers = {**build_hf_headers(token=asked.token, library_name=CLIENT), "Accept-Encoding": "identity"}
    # The session takes the token out of the headers where a redirect leads to another host.
    with get_session().stream(
        "GET", url, headers=headers, timeout=PATIENCE, follow_redirects=True, **options
    ) as answer:
        hf_raise_for_status(answer)
        if answer.status_code != 200:
            raise asked.broken(f"answered with status {answer.status_code}")
        if answer.headers.get("Content-Encoding", "identity") != "identity":
            raise asked.broken("sent it compressed, which it was not asked to")
        if int(answer.headers.get("Content-Length", "0")) > most:
            raise excess
        # Where the file is stored apart, the Hub's own answer was the redirect.
        commits = (one.headers.get(constants.HUGGINGFACE_HEADER_X_REPO_COMMIT) for one in (*answer.history, answer))
        return _body(asked, answer, until, most, excess), next(filter(None, commits), None)


def _body(asked: Asked, answer: Any, until: float, most: int, excess: FetchError) -> bytes:
    body = bytearray()
    for part in answer.iter_raw():
        body += part
        if len(body) > most:
            raise excess
        if time.monotonic() > until:
            raise asked.broken("was too slow")
    return bytes(body)
