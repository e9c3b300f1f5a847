"""A launch command as it is typed, pasted or kept in a file: which arguments vLLM gets, and in what environment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fse_core.doctor import docker, shell
from fse_core.doctor.result import Problem
from fse_core.errors import InputError

MODULES = ("vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server")
_SHELLS = ("bash", "sh", "zsh", "dash")
_UNSEEN = Problem(
    severity="info",
    message="variables that the image itself sets are not seen here: give them with --env, or ask in it",
)
_SERVES = ("vllm-openai",)
"""Images whose entry point is `vllm serve`, or the module that does the same."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """What vLLM gets.

    serve: whether as `vllm serve`, whose first argument may be the model.
    variables: set on the way to it; `inside` tells a container, which sees no others but those in `passed`.
    version: the release that an image's name tells.
    """

    arguments: tuple[str, ...]
    serve: bool
    variables: Mapping[str, str] = field(default_factory=dict)
    inside: bool = False
    passed: tuple[str, ...] = ()
    version: str | None = None
    problems: tuple[Problem, ...] = ()


def from_text(text: str) -> Command:
    """The first command in the text that serves a model. InputError where there is none."""
    script = shell.read(text)
    for words, exported in script.commands:
        found = _found(words, exported)
        if found is not None:
            return replace(found, problems=(*_not_exported(script.only_set, found), *found.problems))
    raise InputError("the command", "holds no `vllm serve`, and no module of vLLM that serves")


def from_words(words: Sequence[str]) -> Command:
    """The command that these words are, as a shell split them."""
    found = _found(list(words), {})
    if found is None:
        raise InputError("the command", "is no `vllm serve`, and no module of vLLM that serves")
    return found


def is_command(words: Sequence[str]) -> bool:
    """Whether the words are a command, and not the name of a model."""
    return len(words) > 1 or any(space in words[0] for space in " \n\t")


def _found(words: list[str], variables: Mapping[str, str]) -> Command | None:
    """What the words serve, through any wrapper (env, sudo, numactl) before it."""
    own = dict(variables)
    for at, word in enumerate(words):
        if docker.is_run(words, at):
            return _in_container(docker.read(words[at:]), own)
        if word.rpartition("/")[2] in _SHELLS and (inner := _script_of(words[at + 1 :])) is not None:
            return _nested(inner, own)
        arguments = _arguments(words[at:])
        if arguments is not None:
            serve = word.rpartition("/")[2] == "vllm"
            return Command(arguments=tuple(arguments), serve=serve, variables=own)
        pair = shell.assignment(word)
        if pair is not None:
            own[pair[0]] = pair[1]
    return None


def _arguments(words: list[str]) -> list[str] | None:
    """What follows `vllm serve`, or the module, where the words begin with it."""
    if words[0].rpartition("/")[2] == "vllm" and words[1:2] == ["serve"]:
        return words[2:]
    if words[0] == "-m" and words[1:2] and words[1] in MODULES:
        return words[2:]
    return None


def _script_of(words: list[str]) -> str | None:
    """The text after a shell's -c."""
    for at, word in enumerate(words):
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            return words[at + 1] if at + 1 < len(words) else None
        if not word.startswith("-"):
            return None
    return None


def _nested(text: str, variables: Mapping[str, str]) -> Command:
    inner = from_text(text)
    return replace(inner, variables={**variables, **inner.variables})


def _in_container(container: docker.Container, outside: Mapping[str, str]) -> Command:
    passed = tuple(name for name in container.passed if name not in outside)
    variables = {name: outside[name] for name in container.passed if name in outside} | dict(container.variables)
    words = [*(() if container.entry_point is None else (container.entry_point,)), *container.words]
    found = _found(words, {}) if words else None
    if found is None:
        found = _by_entry_point(container, words)
    files = tuple(
        Problem(severity="warning", message=f"--env-file {name} is not read: give its variables with --env")
        for name in container.files
    )
    return replace(
        found,
        variables={**variables, **found.variables},
        inside=True,
        passed=passed,
        version=container.version,
        problems=(*found.problems, *files, _UNSEEN),
    )


def _by_entry_point(container: docker.Container, words: list[str]) -> Command:
    """The image's own entry point gets the words. The official images' is `vllm serve`."""
    name = container.image.rpartition("/")[2].partition(":")[0].partition("@")[0]
    if container.entry_point is not None or not name.startswith(_SERVES):
        raise InputError("docker run", f"starts {container.image} with no `vllm serve`")
    if not words:
        raise InputError("docker run", f"gives {container.image} no model")
    return Command(arguments=tuple(words), serve=True)


def _not_exported(only_set: Mapping[str, str], found: Command) -> tuple[Problem, ...]:
    return tuple(
        Problem(severity="warning", message=f"{name} is set in the shell and not exported: vLLM does not see it")
        for name in sorted(only_set)
        if name.startswith(("VLLM_", "FSE_")) and name not in found.variables
    )
