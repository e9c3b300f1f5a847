"""Ranged requests through the Hub client's own session: bounded in bytes and time, and never for a whole large file."""

import re
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from fse_core.errors import FetchError
from fse_core.read.hub import CLIENT, PATIENCE
from fse_core.read.hub_errors import Asked, Stage, retry_after, told
from fse_core.read.safetensors.hosts import gets_token, may_follow

_RETRIED: Final = frozenset({429, 502, 503, 504})
_MOST_ATTEMPTS: Final = 5
_MOST_DROPPED: Final = 3
"""Attempts after a connection that failed: one that does so again and again does it at once."""
_MOST_REDIRECTS: Final = 5
_FIRST_PAUSE: Final = 0.5
_RANGE: Final = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")


@dataclass(kw_only=True)
class Budget:
    """What may be spent, and what was. `until` is by the monotonic clock."""

    until: float
    most: int
    requests: int = 0
    received: int = 0
    resume: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def spend(self, asked: Asked, received: int) -> None:
        with self._lock:
            self.received += received
        if self.received > self.most:
            raise FetchError(
                "too_large", f"{asked.repo}: more than {self.most // 1024**2} MiB of headers, which is not read"
            )
        if time.monotonic() > self.until:
            raise asked.broken("was too slow")

    def count(self) -> None:
        with self._lock:
            self.requests += 1

    def pause(self, seconds: float) -> bool:
        """Has everybody wait, unless there is no time for it."""
        resume = time.monotonic() + seconds
        if resume > self.until:
            return False
        with self._lock:
            self.resume = max(self.resume, resume)
        return True

    def wait(self) -> None:
        """Until the pause is over."""
        time.sleep(max(0.0, min(self.resume, self.until) - time.monotonic()))


@dataclass(frozen=True, kw_only=True)
class Part:
    """Bytes of a file from its start or a place in it: `size` is the whole file's, `url` where they came from."""

    body: bytes
    size: int
    url: str
    commit: str | None


class Ranges:
    """Asks for files of one repository."""

    def __init__(self, asked: Asked, budget: Budget) -> None:
        self.asked = asked
        self.budget = budget

    def part(self, url: str, first: int, last: int) -> Part:
        """The bytes `first` to `last` of a file, or to its end where that comes before."""
        return self._patiently(url, "file", (first, last), last - first + 1, {})

    def whole(self, url: str, stage: Stage, most: int, **params: Any) -> Part:
        """A file of at most so many bytes."""
        return self._patiently(url, stage, None, most, params)

    def _patiently(
        self, url: str, stage: Stage, span: tuple[int, int] | None, most: int, params: dict[str, Any]
    ) -> Part:
        """Asks again where the Hub is busy or the connection fails, as long as there is time."""
        with told(self.asked, stage):
            for attempt in range(1, _MOST_ATTEMPTS + 1):
                self.budget.wait()
                pause = _FIRST_PAUSE * 2 ** (attempt - 1)
                try:
                    return self._follow(url, span, most, params, last=attempt == _MOST_ATTEMPTS)
                except _Busy as busy:
                    pause = busy.pause if busy.pause is not None else pause
                    if not self.budget.pause(pause):
                        busy.refuse()
                except Exception as error:
                    kinds = {kind.__name__ for kind in type(error).__mro__}
                    if "TransportError" not in kinds or attempt >= _MOST_DROPPED or not self.budget.pause(pause):
                        raise
        raise self.asked.broken("was busy at every attempt")

    def _follow(self, url: str, span: tuple[int, int] | None, most: int, params: dict[str, Any], *, last: bool) -> Part:
        from huggingface_hub import constants

        commit = None
        for _ in range(_MOST_REDIRECTS + 1):
            with self._asking(url, span, params) as answer:
                commit = commit or answer.headers.get(constants.HUGGINGFACE_HEADER_X_REPO_COMMIT)
                if answer.is_redirect:
                    url, params = self._target(url, answer), {}
                    continue
                if answer.status_code in _RETRIED and not last:
                    raise _Busy(answer)
                self._require(answer, url, span)
                body, size = self._body(answer, span, most)
                return Part(body=body, size=size, url=url, commit=commit)
        raise self.asked.broken("redirected without an end")

    def _asking(self, url: str, span: tuple[int, int] | None, params: dict[str, Any]) -> Any:
        from huggingface_hub import get_session
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

        own = gets_token(url, self.asked.endpoint)
        headers = build_hf_headers(token=self.asked.token if own else False, library_name=CLIENT)
        headers["Accept-Encoding"] = "identity"
        if span is not None:
            headers["Range"] = f"bytes={span[0]}-{span[1]}"
        self.budget.count()
        patience = max(0.1, min(PATIENCE, self.budget.until - time.monotonic()))
        return get_session().stream(
            "GET", url, headers=headers, params=params or None, timeout=patience, follow_redirects=False
        )

    def _target(self, url: str, answer: Any) -> str:
        target: str = urljoin(url, answer.headers.get("Location", ""))
        if not may_follow(target, self.asked.endpoint):
            raise self.asked.broken(f"redirected to {_host(target)}, which is no host of the Hub")
        return target

    def _require(self, answer: Any, url: str, span: tuple[int, int] | None) -> None:
        from huggingface_hub.utils import hf_raise_for_status  # type: ignore[attr-defined]

        if answer.status_code >= 400 and not gets_token(url, self.asked.endpoint):
            raise self.asked.broken(f"redirected to {_host(url)}, which answered with status {answer.status_code}")
        hf_raise_for_status(answer)
        if span is not None and answer.status_code == 200:
            raise self.asked.broken(
                "ignored the Range of a request and began to send the whole file, which is not read"
            )
        if answer.status_code != (200 if span is None else 206):
            raise self.asked.broken(f"answered with status {answer.status_code}")
        if answer.headers.get("Content-Encoding", "identity") != "identity":
            raise self.asked.broken("sent it compressed, which it was not asked to")

    def _body(self, answer: Any, span: tuple[int, int] | None, most: int) -> tuple[bytes, int]:
        size = None if span is None else self._size(answer, span)
        expected = None if size is None or span is None else min(span[1] + 1, size) - span[0]
        body = bytearray()
        if int(answer.headers.get("Content-Length", "0")) > most:
            raise self.asked.broken("began to send more than was asked for")
        for part in answer.iter_raw():
            body += part
            self.budget.spend(self.asked, len(part))
            if len(body) > most:
                raise self.asked.broken("sent more than was asked for")
        if expected is not None and len(body) != expected:
            raise self.asked.broken(f"sent {len(body):,} bytes and stated {expected:,}")
        return bytes(body), len(body) if size is None else size

    def _size(self, answer: Any, span: tuple[int, int]) -> int:
        """The whole file's size, once the part is known to be the one that was asked for."""
        text = answer.headers.get("Content-Range", "")
        found = _RANGE.fullmatch(text)
        if found is None:
            raise self.asked.broken("sent a part of a file without a Content-Range that says which")
        first, last, size = map(int, found.groups())
        if first != span[0] or last != min(span[1], size - 1):
            raise self.asked.broken(f"sent bytes {first}-{last} of {size} where {span[0]}-{span[1]} were asked for")
        return size


class _Busy(Exception):
    """An answer that asks to come again. `pause` are the seconds that it states."""

    def __init__(self, answer: Any) -> None:
        super().__init__(answer.status_code)
        self.answer = answer
        self.pause = retry_after(answer.headers)

    def refuse(self) -> None:
        """Raises what the client would."""
        from huggingface_hub.utils import hf_raise_for_status  # type: ignore[attr-defined]

        hf_raise_for_status(self.answer)


def _host(url: str) -> str:
    """The host without what a URL may hold of credentials, for a message."""
    try:
        return urlsplit(url).hostname or "nowhere"
    except ValueError:
        return "nowhere"
