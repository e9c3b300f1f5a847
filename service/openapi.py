"""The OpenAPI document: what FastAPI makes of the routes, with the report's own schema and the problems in it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from fse_core.rules.texts import texts
from service import ids
from service.problems import KINDS, MEDIA_TYPE, Problem
from service.targets import PARAMETERS

DESCRIPTION: Final = (
    "Tells, layer by layer, whether a vLLM release on ROCm fuses a model's shared experts with its routed ones, in the "
    "release's own words why not, and what would change it. Errors are RFC 9457 problems."
)

_REF: Final = "#/components/schemas/"
_OWN: Final = ("Report", "Matrix", "Diff", "Releases", "Rules")

PATH_PARAMETERS: Final = [
    {
        "name": "org", "in": "path", "required": True, "description": "The owner on the Hub.",
        "schema": {"type": "string", "pattern": ids.PART, "maxLength": ids.PART_MOST}, "example": "deepseek-ai",
    },
    {
        "name": "name", "in": "path", "required": True, "description": "The model's name on the Hub.",
        "schema": {"type": "string", "pattern": ids.PART, "maxLength": ids.PART_MOST}, "example": "DeepSeek-R1-0528",
    },
]  # fmt: skip

REVISION: Final = {
    "name": "revision", "in": "query", "required": False,
    "description": "A branch, a tag or a commit. The answer for a whole commit and a named release never changes.",
    "schema": {"type": "string", "pattern": ids.REVISION, "maxLength": ids.REVISION_MOST, "default": "main"},
    "example": "main",
}  # fmt: skip

HEADERS: Final[dict[str, Any]] = {
    "name": "headers", "in": "query", "required": False,
    "description": "Whether the headers of the model's safetensors files count too: of those that show one layer of "
    "each kind, or of all. What is not known yet is read in the background.",
    "schema": {"enum": ["none", "sample", "full"], "default": "none"}, "example": "none",
}  # fmt: skip

IGNORE: Final[dict[str, Any]] = {
    "name": "ignore", "in": "query", "required": False,
    "description": "A rule whose findings are put aside, into `ignored`; may be repeated. The verdict stays as it is.",
    "schema": {"type": "array", "items": {"enum": [rule.id for rule in texts()]}}, "example": ["FSE101"],
}  # fmt: skip

TARGET: Final = [parameter.openapi() for parameter in PARAMETERS]

SECURITY: Final[list[dict[str, list[str]]]] = [{}, {"HubToken": []}]

OF_MODEL: Final = (
    "token-not-accepted",
    "gated",
    "not-found",
    "revision-not-found",
    "config-not-found",
    "invalid-input",
    "unreadable-config",
    "upstream-broken",
    "upstream-unavailable",
    "upstream-rate-limited",
    "too-slow",
    "busy",
)
"""The problems that a model on the Hub may have."""

_HEADERS: Final = {
    "X-FSE-Engine": "The version of fse that answered.",
    "X-FSE-Headers": "Which headers the report counts, where they were asked for: sample or full.",
    "ETag": "Strong: the same for the same bytes.",
    "Cache-Control": "Immutable where the address names a commit and a release, else a minute; private with a token.",
    "Content-Location": "Where the address does not name both, that of the same report at its commit and release.",
    "Age": "Where the Hub cannot be reached: seconds since the answer was known to be current.",
    "Warning": "Why an answer may not be current.",
}


def ref(name: str) -> dict[str, str]:
    """A reference to a schema of this document."""
    return {"$ref": _REF + name}


def report_responses(*problem_names: str) -> dict[int | str, dict[str, Any]]:
    """A report, nothing new, or one of the problems."""
    return answer_responses("Report", "The report.", *problem_names)


def answer_responses(schema: str, about: str, *problem_names: str) -> dict[int | str, dict[str, Any]]:
    """An object of this schema, nothing new, or one of the problems."""
    headers = {name: {"description": about, "schema": {"type": "string"}} for name, about in _HEADERS.items()}
    return {
        200: {
            "description": about,
            "headers": headers,
            "content": {"application/json": {"schema": ref(schema)}},
        },
        304: {"description": "The answer is the one that If-None-Match names."},
        **problems(*problem_names),
    }


def problems(*names: str) -> dict[int | str, dict[str, Any]]:
    """The responses for these problems, and for those that any address may answer with."""
    found: dict[int | str, dict[str, Any]] = {}
    for name in (*names, "rate-limited"):
        kind = KINDS[name]
        told = found.setdefault(
            kind.status,
            {"description": kind.title, "content": {MEDIA_TYPE: {"schema": ref("Problem"), "examples": {}}}},
        )
        told["content"][MEDIA_TYPE]["examples"][name] = {"value": Problem(name, kind.meaning).as_dict()}
        if name in ("rate-limited", "upstream-rate-limited", "upstream-unavailable", "too-slow", "busy"):
            about = "Seconds to wait."
            told["headers"] = {"Retry-After": {"description": about, "schema": {"type": "integer", "minimum": 1}}}
    return found


def json_body(schema: Mapping[str, Any], examples: Mapping[str, Any]) -> dict[str, Any]:
    """A required JSON body."""
    told = {"schema": dict(schema), "examples": {name: {"value": value} for name, value in examples.items()}}
    return {"required": True, "content": {"application/json": told}}


TARGET_BODY: Final = {
    "type": "object",
    "description": "How the model is served: the names of the query's parameters. A report's `target` is one.",
    "additionalProperties": False,
    "properties": {
        parameter.name: {
            "description": parameter.about,
            **(
                {"type": "object", "additionalProperties": {"type": "string", "pattern": r"^[\x20-\x7e]{0,1024}$"},
                 "propertyNames": {"pattern": r"^[A-Za-z_][A-Za-z0-9_]{0,127}$"}, "maxProperties": 64}
                if parameter.name == "env"
                else {"type": ["object", "null"]}
                if parameter.name == "quantization_config"
                else {"enum": [*parameter.schema["enum"], None]}
                if parameter.name == "all2all_backend"
                else parameter.schema
            ),
        }
        for parameter in PARAMETERS
    },
    "example": {"gfx": "gfx950", "tp": 8},
}  # fmt: skip


READING: Final = {
    "type": "object",
    "description": "How far the reading of headers is. Ask again after Retry-After, or follow the events.",
    "properties": {
        "schema": {"const": "fse.reading/1"},
        "engine": {"type": "string"},
        "headers": {"enum": ["sample", "full"]},
        "state": {
            "enum": ["waiting", "reading", "checking"],
            "description": "Waiting for a place, or what is done now.",
        },
        "files": {
            "type": "object",
            "properties": {
                "done": {"type": "integer", "minimum": 0},
                "total": {"type": ["integer", "null"], "description": "Null as long as it is not known."},
            },
            "required": ["done", "total"],
        },
        "bytes": {"type": "integer", "minimum": 0, "description": "What came from the Hub."},
        "events": {"type": "string", "description": "Where the same comes as server-sent events."},
        "report": {"oneOf": [ref("Report"), {"type": "null"}], "description": "The answer from the config alone."},
    },
    "required": ["schema", "engine", "headers", "state", "files", "bytes", "events", "report"],
}


def document(app: FastAPI, batch_most: int) -> dict[str, Any]:
    """Made once; the schemas that no route of FastAPI's own names are added to it, and what the settings decide."""
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        parts = made.setdefault("components", {})
        parts["schemas"] = {**parts.get("schemas", {}), **_schemas()}
        parts["securitySchemes"] = {
            "HubToken": {
                "type": "http",
                "scheme": "bearer",
                "description": "A token of the Hub (`hf_...`) that may read the model. Used for the request alone.",
            }
        }
        batch = made["paths"]["/v1/batch"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        batch["properties"]["models"]["maxItems"] = batch_most
        app.openapi_schema = made
    return app.openapi_schema


def _schemas() -> dict[str, Any]:
    made = {name: part for kind in _OWN for name, part in _schema(kind)}
    return {**made, "Target": TARGET_BODY, "Problem": _problem(KINDS), "Reading": READING}


def _schema(kind: str) -> Iterator[tuple[str, Any]]:
    """One of the core's own schemas, and its parts."""
    text = resources.files("fse_core").joinpath(f"schema/{kind.lower()}-1.schema.json").read_text("utf-8")
    text = text.replace('"#/$defs/', f'"{_REF}{kind}.')
    text = text.replace('"report-1.schema.json#/$defs/', f'"{_REF}Report.')
    text = text.replace('"report-1.schema.json#/', f'"{_REF}Report/')
    schema = json.loads(text)
    schema.pop("$id", None)
    del schema["$schema"]
    yield from ((f"{kind}.{name}", part) for name, part in schema.pop("$defs", {}).items())
    yield kind, schema


def _problem(names: Iterable[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "description": "RFC 9457. What went wrong is told apart by `type`, the same text on every deployment.",
        "properties": {
            "type": {"enum": [f"/problems/{name}" for name in names]},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "path": {"type": "string", "description": "The parameter, or the place in the JSON, that is at fault."},
        },
        "required": ["type", "title", "status", "detail"],
    }
