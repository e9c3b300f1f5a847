"""The parameters that say how a model is served: one table for the query, for JSON bodies, and for OpenAPI."""

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args
from urllib.parse import urlencode

from fse_core import releases
from fse_core.errors import InputError
from fse_core.read.document import parse_object
from fse_core.read.getters import join, shown
from fse_core.read.values import checked
from fse_core.target import Target

Headers = Literal["none", "sample", "full"]
"""Whether the headers of a model's files are read: of those that show one layer of each kind, or of all."""

_GFX: Final = r"^gfx[0-9a-f]{3,4}$"
_RELEASE: Final = (
    r"^v?[0-9]{1,5}\.[0-9]{1,5}(?:\.[0-9]{1,5})?(?:rc[0-9]{1,5})?(?:\.dev[0-9]{1,9})?(?:\+[A-Za-z0-9.]{1,100})?$"
)
_VARIABLE: Final = r"^[A-Za-z_][A-Za-z0-9_]{0,127}=[\x20-\x7e]{0,1024}$"
_MOST_GPUS: Final = 65536
_MOST_STAGES: Final = 1024
_MOST_VARIABLES: Final = 64


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter. `field` is Target's name for it; `read` turns its text, or its JSON value, into the field's."""

    name: str
    field: str
    about: str
    schema: Mapping[str, Any]
    read: Callable[[str, Any], Any]
    example: Any

    def openapi(self, prefix: str = "", about: str = "") -> dict[str, Any]:
        """The parameter object; `prefix` goes before its name."""
        told: dict[str, Any] = {"name": prefix + self.name, "in": "query", "required": False}
        told["description"] = f"{about}{self.about}"
        if self.name == "quantization_config":
            return {**told, "content": {"application/json": {"schema": dict(self.schema), "example": self.example}}}
        return {**told, "schema": dict(self.schema), "example": self.example}


def release(name: str, value: Any) -> str:
    """A known release by its usual name; another version as it is given, which the report then says of itself."""
    text = _text(name, value)
    try:
        answering = releases.resolve(text)
    except InputError as error:
        raise InputError(name, error.message) from None
    return answering if releases.is_known(text) else text


def gpu(name: str, value: Any) -> str:
    """A GPU architecture."""
    return _matching(_GFX, "an AMD GPU architecture such as gfx942")(name, value)


def headers(name: str, value: Any) -> Headers:
    """Which headers are read."""
    for mode in get_args(Headers):
        if value == mode:
            found: Headers = mode
            return found
    raise InputError(name, f"expected one of {', '.join(get_args(Headers))}, got {shown(value)}")


def _size(name: str, value: Any, most: int = _MOST_GPUS) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 8.0 is an integer, as JSON Schema sees it
    digits = value if isinstance(value, str) else str(value) if type(value) is int else ""
    if not re.fullmatch(r"[1-9][0-9]{0,4}", digits, re.ASCII) or int(digits) > most:
        raise InputError(name, f"expected a number of GPUs from 1 to {most}, got {shown(value)}")
    return int(digits)


def _stages(name: str, value: Any) -> int:
    # A check takes time that grows with the number of stages.
    return _size(name, value, _MOST_STAGES)


def _switch(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise InputError(name, f"expected true or false, got {shown(value)}")


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(name, f"expected a string, got {shown(value)}")
    return value


def _matching(pattern: str, what: str) -> Callable[[str, Any], str]:
    def read(name: str, value: Any) -> str:
        if not re.search(pattern.replace("$", r"\Z"), _text(name, value)):
            raise InputError(name, f"expected {what}, got {shown(value)}")
        return str(value)

    return read


def _backend(name: str, value: Any) -> str:
    # vLLM reads a backend's name without regard to case, and a dash as an underscore (config/kernel.py at 0.33.0).
    return _text(name, value).lower().replace("-", "_")


def _environment(name: str, value: Any) -> dict[str, str]:
    """From the query a list of KEY=VALUE, from JSON an object."""
    if isinstance(value, Mapping):
        value = [f"{key}={_text(f'{name}.{key}', item)}" for key, item in value.items()]
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InputError(name, f"expected an object of strings, got {shown(value)}")
    if len(value) > _MOST_VARIABLES:
        raise InputError(name, f"expected at most {_MOST_VARIABLES} variables")
    read = _matching(_VARIABLE, "KEY=VALUE in printable ASCII")
    pairs = [read(name, text).partition("=") for text in value]
    return {key: text for key, _, text in pairs}


def _overlay(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return checked(value, name)
    return parse_object(_text(name, value).encode("utf-8", "surrogatepass"), name)


def _choices(option: str) -> dict[str, Any]:
    """What any release that is known takes for the option."""
    names = [name for version in releases.known() for name in releases.load(version).choices[option]]
    return {"enum": list(dict.fromkeys(names))}


RELEASE: Final[Mapping[str, Any]] = {
    "anyOf": [{"enum": ["latest", *releases.known()]}, {"type": "string", "pattern": _RELEASE}]
}
"""A release as OpenAPI shows it: one of those that are known, or another version, which one of them answers for."""

GPU: Final[Mapping[str, Any]] = {"type": "string", "pattern": _GFX}

_NOT_ALL: Final = "Not every release takes each of these; what it does not take is refused (422)."
_BOOLEAN: Final = {"type": "boolean"}
_NUMBER: Final = {"type": "integer", "minimum": 1, "maximum": _MOST_GPUS}

PARAMETERS: Final = tuple(
    Parameter(name=name, field=field, about=about, schema=schema, read=read, example=example)
    for name, field, about, schema, read, example in (
        ("vllm", "vllm", "vLLM release.", RELEASE, release, "latest"),
        ("gfx", "gfx", "GPU architecture.", GPU, gpu, "gfx942"),
        ("tp", "tp", "Tensor parallel size.", _NUMBER, _size, 8),
        ("ep", "ep", "Expert parallelism.", _BOOLEAN, _switch, False),
        ("dp", "dp", "Data parallel size.", _NUMBER, _size, 1),
        ("pcp", "pcp", "Prefill context parallel size.", _NUMBER, _size, 1),
        ("pp", "pp", "Pipeline parallel size.", {**_NUMBER, "maximum": _MOST_STAGES}, _stages, 1),
        (
            "moe_backend", "moe_backend", f"As --moe-backend. {_NOT_ALL}", _choices("moe_backend"), _backend, "auto",
        ),
        (
            "all2all_backend", "all2all_backend", f"As --all2all-backend. {_NOT_ALL}", _choices("all2all_backend"),
            _text,
            "allgather_reducescatter",
        ),
        ("eplb", "eplb", "Expert load balancing.", _BOOLEAN, _switch, False),
        ("dbo", "dbo", "Dual batch overlap.", _BOOLEAN, _switch, False),
        ("plugin", "plugin", "With the fse plugin loaded into vLLM.", _BOOLEAN, _switch, False),
        (
            "env", "environment", "A variable of the server's environment, KEY=VALUE; may be repeated.",
            {"type": "array", "maxItems": _MOST_VARIABLES, "items": {"type": "string", "pattern": _VARIABLE}},
            _environment, ["VLLM_ROCM_USE_AITER=1"],
        ),
        (
            "quantization_config", "overlay", "What --quantization-config holds.", {"type": "object"}, _overlay,
            {"targets": {"*shared_expert*": "mxfp4"}},
        ),
        ("draft", "draft", "Whether the draft (MTP) layers are loaded.", _BOOLEAN, _switch, True),
    )
)  # fmt: skip

_BY_NAME: Final = {parameter.name: parameter for parameter in PARAMETERS}
_NULLABLE: Final = ("all2all_backend", "quantization_config")

ALWAYS: Final = ("vllm", "gfx", "tp")
"""What an address that is given out always names."""


def from_query(
    pairs: Iterable[tuple[str, str]], also: Iterable[str] = (), versions: Sequence[str] | None = None
) -> Target:
    """The target that a query names. A name that is neither a parameter nor in `also` is an InputError.

    One of `versions` has to take its options, the release that the query names unless they are given.
    """
    known = frozenset(also)
    given: dict[str, Any] = {}
    for name, text in pairs:
        if name in known:
            continue
        if name not in _BY_NAME:
            raise InputError(name, f"no such parameter; expected one of {', '.join((*_BY_NAME, *sorted(known)))}")
        if name == "env":
            given.setdefault("env", []).append(text)
        elif name in given:
            raise InputError(name, "is given more than once")
        else:
            given[name] = text
    return _target(given, "", versions)


def from_json(target: Mapping[str, Any], path: str = "target") -> Target:
    """The target that a JSON object names; the `target` of a report is one."""
    given: dict[str, Any] = {}
    for name, value in target.items():
        if name not in _BY_NAME:
            raise InputError(join(path, name), f"no such parameter; expected one of {', '.join(_BY_NAME)}")
        if value is not None or name not in _NULLABLE:
            given[name] = value
    return _target(given, f"{path}.")


def names_release(pairs: Iterable[tuple[str, str]]) -> bool:
    """Whether a query says itself which release it means: without one, or with `latest`, a newer one may answer."""
    return any(name == "vllm" and text in releases.known() for name, text in pairs)


@functools.cache
def usual() -> Mapping[str, Any]:
    """What holds where nothing is said, by the parameters' names."""
    return _target({}, "").as_dict()


def to_pairs(target: Target) -> list[tuple[str, str]]:
    """The parameters of the shortest query that means this target, and goes on to when a default has changed."""
    told = target.as_dict()
    return [
        (parameter.name, text)
        for parameter in PARAMETERS
        if parameter.name in ALWAYS or told[parameter.name] != usual()[parameter.name]
        for text in texts(parameter.name, told[parameter.name])
    ]


def to_query(target: Target, ignore: Iterable[str] = ()) -> str:
    """`to_pairs` as a query, the same text for the same target, with the rules that are put aside."""
    return urlencode([*to_pairs(target), *(("ignore", rule) for rule in ignore)])


def texts(name: str, value: Any) -> list[str]:
    """How a query says a parameter's value: once for each variable of `env`, not at all for None."""
    if name == "env":
        return [f"{key}={text}" for key, text in value.items()]
    if isinstance(value, (bool, dict)):
        return [json.dumps(value, separators=(",", ":"))]
    return [] if value is None else [str(value)]


def _target(given: Mapping[str, Any], prefix: str, versions: Sequence[str] | None = None) -> Target:
    fields = {_BY_NAME[name].field: _BY_NAME[name].read(prefix + name, value) for name, value in given.items()}
    fields.setdefault("vllm", releases.load("latest").version)
    target = Target(**fields)
    refused = [_refusal(version, target) for version in versions or (target.vllm,)]
    if all(refused):
        error = refused[-1]
        assert error is not None
        raise InputError(prefix + error.path.removeprefix("--").replace("-", "_"), error.message)
    return target


def _refusal(version: str, target: Target) -> InputError | None:
    """Why the release does not take the target's options."""
    try:
        releases.load(version).require(target)
    except InputError as error:
        return error
    return None
