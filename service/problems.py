"""Errors as RFC 9457 problems. A problem's type is the same text on every deployment: `/problems/` and its name."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from fse_core.errors import FetchError, FseError, InputError

MEDIA_TYPE: Final = "application/problem+json"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What all problems of one type share. `meaning` is shown at the type's address."""

    status: int
    title: str
    meaning: str


KINDS: Final[Mapping[str, Kind]] = {
    "not-found": Kind(
        status=404, title="Not found", meaning="No such model on the Hub, a private one, or no such address here."
    ),
    "revision-not-found": Kind(
        status=404, title="Revision not found", meaning="The model has no such branch, tag or commit."
    ),
    "config-not-found": Kind(
        status=404, title="No config.json", meaning="The repository holds no config.json at this commit."
    ),
    "gated": Kind(
        status=403,
        title="Gated model",
        meaning="The model's owner decides who reads it. Send the token of an account that may: "
        "`Authorization: Bearer hf_...`. It is used for that request alone.",
    ),
    "token-not-accepted": Kind(
        status=401,
        title="Token not accepted",
        meaning="The Hub does not know the token that was sent, or it has expired. A public model needs none.",
    ),
    "method-not-allowed": Kind(status=405, title="Method not allowed", meaning="See the Allow header."),
    "timeout": Kind(status=408, title="Too slow", meaning="The request's body did not arrive in time."),
    "too-large": Kind(status=413, title="Too large", meaning="The request's body is larger than this service reads."),
    "unsupported-media-type": Kind(
        status=415, title="Unsupported media type", meaning="Send the body as application/json."
    ),
    "invalid-input": Kind(
        status=422,
        title="Invalid input",
        meaning="`path` names the parameter, or the place in the JSON that was sent; `detail` says what it must be.",
    ),
    "unreadable-config": Kind(
        status=422,
        title="Unreadable config",
        meaning="The model was found, and its config.json is none that can be read; `path` says where.",
    ),
    "unreadable-headers": Kind(
        status=422,
        title="Unreadable headers",
        meaning="The model's safetensors files, or their index, are none whose headers can be read within the bounds.",
    ),
    "rate-limited": Kind(
        status=429,
        title="Too many requests",
        meaning="This client asked too often, or for too much at once; Retry-After says when to go on.",
    ),
    "internal-error": Kind(
        status=500, title="Internal error", meaning="A fault of this service, logged under the request's id."
    ),
    "upstream-broken": Kind(
        status=502, title="The Hub gave no usable answer", meaning="What came back is none that the Hub gives."
    ),
    "upstream-unavailable": Kind(
        status=503,
        title="The Hub cannot be reached",
        meaning="Nothing is known about this model from before; try again later.",
    ),
    "upstream-rate-limited": Kind(
        status=503, title="The Hub limits requests", meaning="Retry-After says when to go on."
    ),
    "too-slow": Kind(
        status=503, title="Too slow to check", meaning="Checking the config takes longer than this service allows."
    ),
    "busy": Kind(
        status=503,
        title="Busy",
        meaning="Others' requests have every place for this work; it says nothing about what was asked for. "
        "Retry-After says when to ask again.",
    ),
    "not-ready": Kind(status=503, title="Not ready", meaning="The service is starting, stopping, or has no store."),
}


class Problem(Exception):
    """One of KINDS, with what is particular to this time."""

    def __init__(self, name: str, detail: str, *, path: str | None = None, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.name = name
        self.detail = detail
        self.path = path
        self.retry_after = retry_after

    @property
    def status(self) -> int:
        return KINDS[self.name].status

    def as_dict(self) -> dict[str, Any]:
        """The problem's JSON object."""
        kind = KINDS[self.name]
        told: dict[str, Any] = {"type": f"/problems/{self.name}", "title": kind.title, "status": kind.status}
        told["detail"] = self.detail
        if self.path is not None:
            told["path"] = self.path
        return told

    def headers(self) -> dict[str, str]:
        """What goes into the response's head beside the media type."""
        told = {"Cache-Control": "no-store"}
        if self.retry_after is not None:
            told["Retry-After"] = str(max(1, round(self.retry_after)))
        if self.status == 401:
            told["WWW-Authenticate"] = "Bearer"
        return told


def response(problem: Problem) -> Response:
    """The problem as it goes out."""
    body = json.dumps(problem.as_dict(), ensure_ascii=True).encode()
    return Response(body, problem.status, problem.headers(), media_type=MEDIA_TYPE)


def from_error(error: FseError, model: str, revision: str) -> Problem:
    """The problem for a model that could not be had or read."""
    if isinstance(error, FetchError):
        return _from_fetch(error, model, revision)
    if isinstance(error, InputError):
        return Problem("unreadable-config", f"{model}@{revision}: {error.message}", path=error.path)
    return Problem("internal-error", "an error without a problem type")


def _from_fetch(error: FetchError, model: str, revision: str) -> Problem:
    match error.kind:
        case "missing_repo":
            return Problem(
                "not-found", f"{model}: no such model on the Hub, or a private one that needs the token of its reader"
            )
        case "bad_token":
            return Problem("token-not-accepted", f"{model}: the Hub did not accept the token", path="Authorization")
        case "missing_revision":
            return Problem("revision-not-found", f"{model} has no branch, tag or commit {revision}")
        case "missing_file":
            return Problem("config-not-found", f"{model}@{revision} has no config.json; only that format is read")
        case "gated":
            return Problem("gated", f"{model} is gated: ask for access on its page and send the token of that account")
        case "too_large":
            return Problem("unreadable-config", f"{model}@{revision}: a file is too large for a config", path="")
        case "rate_limited":
            return Problem(
                "upstream-rate-limited", f"{model}: the Hub limits requests", retry_after=error.retry_after or 30
            )
        case "broken":
            return Problem("upstream-broken", f"{model}: the Hub did not answer as it should", retry_after=30)
        case _:
            return Problem("upstream-unavailable", f"{model}: the Hub cannot be reached now", retry_after=10)
