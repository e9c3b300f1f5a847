"""What callers send, read strictly; what is wrong becomes a problem that names the place."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlencode

from starlette.requests import Request

from fse_core.errors import FseError, InputError
from fse_core.read.document import parse_object
from fse_core.read.getters import Fields
from fse_core.rules.texts import ids as rule_ids
from fse_core.rules.texts import resolve
from fse_core.target import Target
from service import ids, spans, state, targets
from service.apart import apart
from service.examples import Example
from service.problems import Problem, from_error
from service.reports import Served

BODY: Final = "body"

_BEARER: Final = re.compile(r"(?i:bearer) +(hf_[A-Za-z0-9._-]{1,4096})")
_JSON: Final = re.compile(r"application/(?:[a-z0-9.+-]+\+)?json\s*(?:;.*)?", re.IGNORECASE)


@contextmanager
def reading() -> Iterator[None]:
    """An InputError inside is the caller's."""
    try:
        yield
    except InputError as error:
        raise Problem("invalid-input", error.message, path=error.path) from None


@contextmanager
def fetching(model: str, revision: str) -> Iterator[None]:
    """An error inside is the model's, or the Hub's."""
    try:
        yield
    except FseError as error:
        raise from_error(error, model, revision) from None


def token(request: Request) -> str | None:
    """The caller's own Hub token."""
    given = request.headers.get("authorization")
    if given is None:
        return None
    found = _BEARER.fullmatch(given.strip())
    if found is None:
        raise Problem("invalid-input", "expected Bearer and a token of the Hub (hf_...)", path="Authorization")
    return found[1]


def asked(request: Request, *, revisions: bool = True, also: Sequence[str] = ()) -> tuple[str, str, Target]:
    """The model, the revision (where an address may name one) and the target of an address."""
    pairs = request.query_params.multi_items()
    model, revision = named(request) if revisions else (_model(request), "main")
    with reading():
        return model, revision, targets.from_query(pairs, also=(*(("revision",) if revisions else ()), *also))


def headers(request: Request, usual: targets.Headers = "none") -> targets.Headers:
    """Which headers the address asks for."""
    with reading():
        given = _once(request, "headers")
        return usual if given is None else targets.headers("headers", given)


def ignored(request: Request) -> tuple[str, ...]:
    """The ids of the rules whose findings the address puts aside."""
    known = rule_ids()
    given = [text[:100] for name, text in request.query_params.multi_items() if name == "ignore"]
    with reading():
        return tuple(sorted({resolve(text, known, "ignore") for text in given}))


def named(request: Request) -> tuple[str, str]:
    """The model and the revision of an address whose other parameters are read elsewhere."""
    with reading():
        given = _once(request, "revision")
        return _model(request), "main" if given is None else ids.revision(given)


def _once(request: Request, parameter: str) -> str | None:
    """The value of a parameter that may be given once."""
    given = [text for name, text in request.query_params.multi_items() if name == parameter]
    if len(given) > 1:
        raise InputError(parameter, "is given more than once")
    return given[0] if given else None


def example(request: Request) -> Example:
    """The shipped model of an address. Problem where there is none."""
    model = _model(request)
    found = state.of(request)["examples"].get(model)
    if found is None:
        raise Problem("not-found", f"no shipped model is named {model}")
    return found


def at_commit(path: str, served: Served, revision: str, asked: spans.Asked[Any]) -> str:
    """Where the same answer stands at its commit and releases; empty where the address already names them."""
    if ids.is_commit(revision) and asked.pinned:
        return ""
    return f"{path}?{urlencode([('revision', str(served.source.commit)), *asked.exact])}"


def _model(request: Request) -> str:
    with reading():
        return ids.model(request.path_params["org"], request.path_params["name"])


async def body(request: Request, known: tuple[str, ...]) -> Fields:
    """The JSON object that was sent, which has no other keys than `known`."""
    if not _JSON.fullmatch(request.headers.get("content-type", "")):
        raise Problem("unsupported-media-type", "expected a body of type application/json")
    sent = await request.body()
    with reading():
        fields = Fields(await apart(len(sent), lambda: parse_object(sent, BODY)))
        for key in fields:
            if key not in known:
                raise InputError(fields.at(key), f"no such field; expected {', '.join(known)}")
        return fields


def target(fields: Fields) -> Target:
    """The target of a body; the default one where none is given."""
    with reading():
        given: Any = fields.get("target")
        return targets.from_json({} if given is None else fields.object("target").raw)
