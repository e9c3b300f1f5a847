"""A launch command as it is typed, pasted or kept in a file: which arguments vLLM gets, and in what environment."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fse_core.doctor import docker, elsewhere, manifest, shell, shells
from fse_core.doctor.result import Problem
from fse_core.doctor.variables import Seen
from fse_core.doctor.wrapped import Wrapped
from fse_core.errors import InputError

MODULES = ("vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server")
_MAIN = "vllm.entrypoints.cli.main"
_SAY = ("echo", "printf", "cat", "grep", "tee", "which", "type", "man", "pkill", "pgrep", "ps", "test", "[", "[[", "#")
"""Commands whose words are not carried out."""
_DEEPEST = 16
_MOST_WORDS = 4096
_LONGEST = 1 << 16
"""The words of a command, with those around it."""
_MOST_READ, _LEAST = 1 << 23, 1 << 10
"""Characters of texts that are in one another, all together, and what the shortest of them counts as."""
_FILES = ("vllm/entrypoints/openai/api_server.py", "vllm/entrypoints/api_server.py")
_SERVES = ("vllm-openai", "vllm-fse-rocm")
"""Images whose entry point is `vllm serve`, or the module that does the same."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """What vLLM gets.

    serve: whether as `vllm serve`, whose first argument may be the model.
    variables: set on the way to it; `inside` tells a container, which sees no others but those in `passed`.
    removed: what is taken from it on the way, wherever it was set.
    nested: whether `variables` are all that the outer commands gave it.
    version: the release that an image's name tells.
    """

    arguments: tuple[str, ...]
    serve: bool
    variables: Mapping[str, str] = field(default_factory=dict)
    inside: bool = False
    passed: tuple[str, ...] = ()
    removed: frozenset[str] = frozenset()
    nested: bool = False
    version: str | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Nesting:
    """How deep in others a text or command is, and what is `left` to read. A text may hold itself, several times."""

    depth: int = 0
    left: list[int] = field(default_factory=lambda: [_MOST_READ])

    def inner(self) -> "_Nesting":
        return replace(self, depth=self.depth + 1)

    def take(self, text: str) -> None:
        """InputError where it is too much."""
        self.left[0] -= max(len(text), _LEAST)
        if self.left[0] < 0:
            raise InputError("the command", "holds too many texts that a shell reads, one in the other")


def from_text(text: str, inherited: Collection[str] = ()) -> Command:
    """The first command in the text that serves a model. InputError where there is none.

    inherited: the variables that a script finds exported when it begins.
    """
    return _from_script(text, Seen(), inherited, _Nesting())


def _from_script(text: str, outer: Seen, inherited: Collection[str], nesting: _Nesting) -> Command:
    """One that is in others has been given `outer`'s variables."""
    nesting.take(text)
    if nesting.depth == 0 and manifest.is_manifest(text):
        return _of_manifest(text)
    first: Command | None = None
    wrong: InputError | None = None
    several = 0
    for given in shell.read(text, outer.exported, frozenset(inherited) - outer.removed).commands:
        seen = given.seen
        try:
            if outer.removed:
                seen = replace(seen, removed=seen.removed | (outer.removed - seen.exported.keys()))
            found = _found(given.words, seen, inherited, nesting, given.stdin)
        except InputError as error:
            wrong = wrong or error
            continue
        several += found is not None
        if found is not None and first is None:
            first = replace(found, problems=(*_not_exported(seen.only_set, found), *found.problems))
    if first is not None:
        return first if several == 1 else replace(first, problems=(_several(several), *first.problems))
    raise wrong or InputError("the command", "holds no `vllm serve`, and no module of vLLM that serves")


def _of_manifest(text: str) -> Command:
    """The first container of the document that serves a model."""
    found: list[Command] = []
    wrong: InputError | None = None
    for container in manifest.containers(text):
        try:
            found.append(_in_container(container, Wrapped(Seen()), _Nesting()))
        except InputError as error:
            wrong = wrong or error
    if not found:
        raise wrong or InputError("the manifest", "has no container with an image")
    return found[0] if len(found) == 1 else replace(found[0], problems=(_several(len(found)), *found[0].problems))


def _several(count: int) -> Problem:
    what = f"the text holds {count} commands that serve a model, of which this is the first: give the others alone"
    return Problem(severity="warning", message=what)


def from_words(words: Sequence[str], inherited: Collection[str] = ()) -> Command:
    """The command that these words are, as a shell split them."""
    found = _found(list(words), Seen(), inherited, _Nesting())
    if found is None:
        what = "is no `vllm serve`, and no module of vLLM that serves"
        raise InputError("the command", f"{what}; of models, only one is looked at")
    return found


def is_command(words: Sequence[str]) -> bool:
    """Whether the words are a command, and not the name of a model."""
    return len(words) > 1 or any(space in words[0] for space in " \n\t")


def _found(
    words: list[str], seen: Seen, inherited: Collection[str], nesting: _Nesting, stdin: str | None = None
) -> Command | None:
    """What the words serve, through any wrapper (env, sudo, numactl) before it."""
    if nesting.depth > _DEEPEST:
        raise InputError("the command", f"is wrapped more than {_DEEPEST} times")
    if len(words) > _LONGEST:
        raise InputError("the command", f"has more than {_LONGEST} words")
    wrapped = Wrapped(seen)
    if next((word for word in words if shell.assignment(word) is None), "").rpartition("/")[2] in _SAY:
        return None
    script: str | None = None
    at = 0
    while at < len(words):
        container = _container(words, at, wrapped, stdin)
        if container is not None:
            return _in_container(container, wrapped, nesting)
        inner, operand = shells.script_of(words, at, stdin, wrapped)
        if inner is not None:
            known = () if wrapped.bare else inherited
            return _alone(_from_script(inner, wrapped.seen(), known, nesting.inner()), wrapped)
        script = script or operand
        start = _arguments(words, at)
        if start is not None:
            if script is not None:
                wrapped.tell("info", f"{script} is not read: it is taken to run what follows as it is")
            return _alone(_served(words[start:], serve=words[start - 1] == "serve"), wrapped)
        at = wrapped.take(words, at)
    if script is not None:
        raise InputError("the command", f"runs {script}, which is not read: give it to --script")
    return None


def _container(words: list[str], at: int, wrapped: Wrapped, stdin: str | None) -> docker.Container | None:
    """What is handed to a container, or to another machine, by the command that begins there."""
    found = docker.read(words[at:]) if docker.is_run(words, at) else elsewhere.read(words, at, stdin)
    return replace(found, passed=()) if found is not None and wrapped.bare else found


def _served(arguments: list[str], *, serve: bool) -> Command:
    if len(arguments) > _MOST_WORDS:
        raise InputError("the command", f"has more than {_MOST_WORDS} arguments")
    return Command(arguments=tuple(arguments), serve=serve)


def _alone(found: Command, wrapped: Wrapped) -> Command:
    """With what its wrappers leave of the variables. A nested script's own ones hold already what these gave it."""
    seen = wrapped.seen()
    own = found.variables if found.nested else seen.exported
    removed = frozenset() if found.inside else (found.removed | seen.removed) - set(own)
    return replace(
        found,
        variables=own,
        inside=found.inside or wrapped.bare,
        removed=removed,
        passed=found.passed if found.inside else wrapped.passed,
        nested=True,
        problems=(*wrapped.problems, *found.problems),
    )


def _arguments(words: list[str], at: int) -> int | None:
    """Where the arguments begin, where `vllm serve`, or the module, stands at `at`."""
    if words[at].rpartition("/")[2] == "vllm" and words[at + 1 : at + 2] == ["serve"]:
        return at + 2
    if words[at] == "-m" and words[at + 1 : at + 3] == [_MAIN, "serve"]:
        return at + 3
    if words[at].endswith(_FILES):
        return at + 1
    return at + 2 if words[at] == "-m" and words[at + 1 : at + 2] and words[at + 1] in MODULES else None


def _in_container(container: docker.Container, wrapped: Wrapped, nesting: _Nesting) -> Command:
    seen = wrapped.seen()
    outside = seen.exported
    passed = tuple(name for name in container.passed if name not in outside and name not in seen.removed)
    variables = {name: outside[name] for name in container.passed if name in outside} | dict(container.variables)
    words = [*(() if container.entry_point is None else (container.entry_point,)), *container.words]
    found = _found(words, Seen(exported=variables), (), nesting.inner()) if words else None
    if found is None:
        found = replace(_by_entry_point(container, words), variables=variables)
    files = tuple(
        Problem(severity="warning", message=f"{name} is not read: give its variables with --env")
        for name in container.files
    )
    unseen = f"variables that {container.unseen} are not seen here: give them with --env, or ask in it"
    return replace(
        found,
        inside=True,
        passed=() if found.inside else tuple(name for name in passed if name not in found.removed),
        removed=frozenset(),
        nested=True,
        version=container.version,
        problems=(*found.problems, *files, Problem(severity="info", message=unseen)),
    )


def _by_entry_point(container: docker.Container, words: list[str]) -> Command:
    """The image's own entry point gets the words. The official images' is `vllm serve`."""
    if not container.image:
        raise InputError("the command", "holds no `vllm serve` for what runs already")
    name = container.image.rpartition("/")[2].partition(":")[0].partition("@")[0]
    if container.entry_point is not None or not name.startswith(_SERVES):
        raise InputError("docker run", f"starts {container.image} with no `vllm serve`")
    if not words:
        raise InputError("docker run", f"gives {container.image} no model")
    return _served(words, serve=True)


def _not_exported(only_set: Mapping[str, str], found: Command) -> tuple[Problem, ...]:
    return tuple(
        Problem(severity="warning", message=f"{name} is set in the shell and not exported: vLLM does not see it")
        for name in sorted(only_set)
        if name.startswith(("VLLM_", "FSE_")) and name not in found.variables
    )
