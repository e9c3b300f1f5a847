"""What the Hub's client raises, as one FetchError for each cause, with what to do. No message holds a token."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from fse_core.errors import FetchError, FseError
from fse_core.read.document import MAX_BYTES

Stage = Literal["repo", "file"]

Token = str | Literal[False] | None
"""A token; None for the client's own (HF_TOKEN, its login); False to ask without any."""

_RESET: Final = re.compile(r"\bt\s*=\s*(\d{1,9})\b")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is asked of the Hub, and how."""

    repo: str
    revision: str
    endpoint: str
    token: Token = field(default=None, repr=False)

    @property
    def host(self) -> str:
        """The endpoint without what a URL may hold of credentials."""
        parts = urlsplit(self.endpoint)
        if parts.hostname is None:
            return "the address in HF_ENDPOINT, which names no host,"
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname

    def broken(self, what: str) -> FetchError:
        """The endpoint's answer is none that the Hub would give."""
        return FetchError("broken", f"{self.repo}: {self.host} {what}; try again, and check HF_ENDPOINT if it is set")

    def too_large(self, name: str) -> FetchError:
        return FetchError(
            "too_large", f"{self.repo}: {name} is larger than {MAX_BYTES // 1024**2} MiB, which no model config is"
        )

    def not_cached(self, name: str) -> FetchError:
        return FetchError(
            "offline",
            f"{self.repo}@{self.revision}: {name} is not in the cache, and offline mode is on; fetch it once with "
            "HF_HUB_OFFLINE unset, or give a path",
        )


@contextmanager
def told(asked: Asked, stage: Stage) -> Iterator[None]:
    """Turns whatever the client raises into a FetchError; a missing file stays the client's EntryNotFoundError."""
    from huggingface_hub.errors import LocalEntryNotFoundError, RemoteEntryNotFoundError, RevisionResolutionError

    try:
        yield
    except (FseError, RemoteEntryNotFoundError):
        raise
    except (LocalEntryNotFoundError, RevisionResolutionError) as error:
        # The client found nothing in its cache after a request had failed: that failure is what counts.
        raise _translated(error.__cause__ or error, asked, stage) from None
    except Exception as error:
        # Also a TypeError or KeyError: the client meets answers of the wrong shape so.
        raise _translated(error, asked, stage) from None


def _translated(error: BaseException, asked: Asked, stage: Stage) -> FetchError:
    from huggingface_hub import errors

    if isinstance(error, errors.HfHubHTTPError):
        return _refused(error, asked, stage)
    if isinstance(error, errors.OfflineModeIsEnabled):
        return asked.not_cached("it")
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if kinds & {"LocalProtocolError", "UnicodeEncodeError"}:
        return asked.broken(
            "could not be asked: the token, or the endpoint's URL, holds characters that cannot be sent"
        )
    if kinds & {"RemoteProtocolError", "DecodingError", "TooManyRedirects", "FileMetadataError"}:
        return asked.broken(f"did not answer as the Hub does ({type(error).__name__})")
    if "TransportError" in kinds:
        return _unreachable(f"cannot be reached ({type(error).__name__})", asked)
    if isinstance(error, OSError) and error.errno is not None:
        return FetchError("broken", f"{asked.repo}: the client's cache cannot be used: {error.strerror}; see HF_HOME")
    return asked.broken(f"gave an answer that the client cannot read ({type(error).__name__})")


def _refused(error: Any, asked: Asked, stage: Stage) -> FetchError:
    """An answer with an error status."""
    if error.response.status_code == 401 and _token(asked) and "X-Error-Code" not in error.response.headers:
        return _bad_token(asked)  # a model that a good token does not open is answered with 403 or 404
    for name, reading in _BY_ERROR.items():
        if any(kind.__name__ == name for kind in type(error).__mro__):
            return reading(asked)
    status = error.response.status_code
    if status == 429:
        return _rate_limited(error.response.headers, asked)
    if status == 401 or (status == 404 and stage == "repo"):
        return _missing_repo(asked)
    if status == 403:
        return _gated(asked)
    if status >= 500 or status == 408:
        return _unreachable(f"answered with status {status}", asked)
    return asked.broken(f"answered with status {status}")


def _gated(asked: Asked) -> FetchError:
    todo = (
        "ask for access on its page, then give a token of that account"
        if _token(asked) is None
        else "the token's account has no access to it, or the token lacks the right to read gated repositories"
    )
    return FetchError("gated", f"{asked.repo} is gated: {todo} (HF_TOKEN, --token-file)")


def _bad_token(asked: Asked) -> FetchError:
    return FetchError(
        "bad_token",
        f"{asked.repo}: {asked.host} did not accept the token (HF_TOKEN, --token-file, or the client's login); a "
        "public model needs none",
    )


def _missing_repo(asked: Asked) -> FetchError:
    todo = (
        "check the spelling; if it is private, give a token (HF_TOKEN, --token-file)"
        if _token(asked) is None
        else "check the spelling; if it is private, the token is not valid or its account may not read it"
    )
    return FetchError("missing_repo", f"{asked.repo}: no such repository on {asked.host}, or a private one: {todo}")


def _disabled(asked: Asked) -> FetchError:
    return FetchError("missing_repo", f"{asked.repo}: {asked.host} has disabled access to it")


def _missing_revision(asked: Asked) -> FetchError:
    return FetchError(
        "missing_revision",
        f"{asked.repo} has no branch, tag or commit {asked.revision}; its page lists them under Files and versions",
    )


def _unreachable(what: str, asked: Asked) -> FetchError:
    return FetchError(
        "unreachable",
        f"{asked.repo}: {asked.host} {what}; check the network, the proxy and HF_ENDPOINT, or set HF_HUB_OFFLINE=1 "
        "to use what the cache holds",
    )


def _rate_limited(headers: Mapping[str, str], asked: Asked) -> FetchError:
    seconds = retry_after(headers)
    when = "later" if seconds is None else f"in {seconds:g} s"
    advice = "; a token (HF_TOKEN, --token-file) raises the limit" if _token(asked) is None else ""
    return FetchError(
        "rate_limited", f"{asked.repo}: {asked.host} limits requests: try again {when}{advice}", retry_after=seconds
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from Retry-After (a number or a date) or from RateLimit."""
    text = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d{1,9}", text):
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        found = _RESET.search(headers.get("RateLimit", ""))
        return float(found[1]) if found else None
    return max(0.0, ((date if date.tzinfo else date.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds())


def _token(asked: Asked) -> str | None:
    from huggingface_hub import get_token

    return None if asked.token is False else asked.token or get_token()


_BY_ERROR: Final[Mapping[str, Callable[[Asked], FetchError]]] = {
    "GatedRepoError": _gated,
    "RepositoryNotFoundError": _missing_repo,
    "DisabledRepoError": _disabled,
    "RevisionNotFoundError": _missing_revision,
}
