"""The containers that a Kubernetes manifest or a Compose file starts, with what it gives to each."""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from fse_core.doctor import yaml
from fse_core.doctor.docker import Container
from fse_core.errors import InputError

_BEGINS = re.compile(r"\s*(?:#.*\n\s*)*(?:---|-[ \t].*|[A-Za-z][\w-]*:(?:[ \t].*)?)[ \t\r]*(?:\n|$)")
_DOCUMENTS = re.compile(r"^---(?:[ \t].*)?$", re.MULTILINE)
_NAME = "the manifest"


def is_manifest(text: str) -> bool:
    """Whether the text is YAML, and no command: by its first line."""
    return _BEGINS.match(text) is not None


def containers(text: str) -> list[Container]:
    """All of them, in turn. InputError where the text is more than the plain YAML that is read here."""
    return [one for part in _DOCUMENTS.split(text) for one in _among(yaml.read(part, _NAME))]


def _among(value: Any, *, service: bool = False) -> Iterator[Container]:
    """service: whether it is below Compose's `services`."""
    if isinstance(value, Mapping):
        if isinstance(value.get("image"), str) and not isinstance(value.get("containers"), list):
            yield _container(value, service=service)
            return
        for key, inner in value.items():
            yield from _among(inner, service=service or key == "services")
    elif isinstance(value, list):
        for inner in value:
            yield from _among(inner, service=service)


def _container(given: Mapping[str, Any], *, service: bool) -> Container:
    """Kubernetes' `command` and Compose's `entrypoint` take the place of the image's entry point."""
    compose = "args" not in given and not isinstance(given.get("env"), list)
    told = service or "entrypoint" in given or "environment" in given or isinstance(given.get("command"), str)
    compose = compose and told
    start = _words(given, "entrypoint" if compose else "command")
    words = _words(given, "command" if compose else "args")
    variables = dict(_variables(given))
    return Container(
        image=given["image"],
        words=[*start[1:], *words],
        variables={name: value for name, value in variables.items() if value is not None},
        files=tuple(_unread(given, variables)),
        entry_point=start[0] if start else None,
    )


def _words(given: Mapping[str, Any], key: str) -> list[str]:
    value = given.get(key)
    if value is None:
        return []
    if isinstance(value, str):
        try:
            return shlex.split(value)
        except ValueError as error:
            raise InputError(f"{_NAME}: {key}", f"cannot be split into words: {error}") from None
    if not isinstance(value, list):
        raise InputError(f"{_NAME}: {key}", "expected a list of words")
    return [_text(word) for word in value]


def _variables(given: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Each with its value, None where that stands elsewhere."""
    env, environment = given.get("env"), given.get("environment")
    for one in env if isinstance(env, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get("name"), str):
            yield one["name"], None if "valueFrom" in one else _known(one.get("value", ""))
    if isinstance(environment, Mapping):
        for name, value in environment.items():
            yield name, _known(value)
    for one in environment if isinstance(environment, list) else ():
        name, equals, value = _text(one).partition("=")
        yield name, _known(value) if equals else None


def _known(value: Any) -> str | None:
    """The text, None where it is to be had, or filled in, from elsewhere."""
    return None if value is None or "$" in _text(value) else _text(value)


def _unread(given: Mapping[str, Any], variables: Mapping[str, str | None]) -> Iterator[str]:
    for key in ("envFrom", "env_file"):
        if given.get(key):
            yield key
    for name, value in variables.items():
        if value is None and name.startswith(("VLLM_", "FSE_")):
            yield f"the value of {name}"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
