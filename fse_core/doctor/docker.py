"""What `docker run` gives to the container: its variables, its image, and the words after that."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fse_core.doctor.shell import assignment
from fse_core.errors import InputError

_PROGRAMS = ("docker", "docker-compose", "podman", "podman-compose", "nerdctl")
_NEAR = 16
"""Among so many words after one of these is what it is to do: options for all of its commands come before that."""
_SWITCHES = frozenset(
    (
        "--rm", "--detach", "--interactive", "--tty", "--init", "--privileged", "--read-only", "--publish-all",
        "--no-healthcheck", "--oom-kill-disable", "--sig-proxy", "--disable-content-trust", "--quiet", "--no-hosts",
        "--replace", "--tls-verify", "--http-proxy", "--build", "--no-deps", "--no-TTY", "--quiet-build",
        "--quiet-pull", "--remove-orphans", "--service-ports", "--use-aliases",
    )
)  # fmt: skip
_SHORT_SWITCHES = frozenset("ditPqT")


@dataclass(frozen=True, kw_only=True)
class Container:
    """`variables` are set in it; `passed` are handed on from outside; `files` hold more, which are not read.

    unseen: whose own variables are not seen. The image is "" where what runs already is not known.
    """

    image: str
    words: list[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    passed: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    entry_point: str | None = None
    unseen: str = "the image itself sets"

    @property
    def version(self) -> str | None:
        """The release that the image's tag names."""
        return version_of(self.image)


def version_of(image: str) -> str | None:
    """The vLLM release in an image's name: `vllm/vllm-openai-rocm:v0.31.0`, `rocm/vllm:rocm7.0.0_vllm_0.11.2_2025`."""
    tag = image.rpartition("/")[2]
    named = re.search(r"vllm[_-]v?(\d+\.\d+\.\d+)(?![\d.])", tag)
    if named is not None:
        return named[1]
    after = re.fullmatch(r"[^:]*vllm[^:]*:v?(\d+\.\d+\.\d+(?:rc\d+|\.post\d+)?)(?:[-_+].*)?", tag)
    return None if after is None else after[1]


def is_run(words: Sequence[str], at: int) -> bool:
    """Whether a `docker run` begins there."""
    return _verb(words, at) == "run"


def is_exec(words: Sequence[str], at: int) -> bool:
    """Whether a `docker exec` begins there."""
    return _verb(words, at) == "exec"


def _verb(words: Sequence[str], at: int) -> str | None:
    """What the program at `at` is to do, where it is one of these."""
    if words[at].rpartition("/")[2] not in _PROGRAMS:
        return None
    return next((word for word in words[at + 1 : at + _NEAR] if word in ("run", "exec")), None)


def read_exec(words: Sequence[str]) -> Container:
    """What comes after `docker exec`. InputError where there is no container."""
    whole = _read(words, "exec")
    return replace(whole, image="", unseen="the container has already")


def read(words: Sequence[str]) -> Container:
    """What comes after `docker run`. InputError where there is no image."""
    return _read(words, "run")


def _read(words: Sequence[str], verb: str) -> Container:
    variables: dict[str, str] = {}
    passed: list[str] = []
    files: list[str] = []
    entry_point: str | None = None
    at = list(words).index(verb) + 1
    while at < len(words) and words[at].startswith("-"):
        name, value, at = _option(words, at)
        if name in ("-e", "--env"):
            pair = assignment(value or "")
            if pair is not None:
                variables[pair[0]] = pair[1]
            elif value:
                passed.append(value)
        elif name == "--env-file" and value is not None:
            files.append(f"--env-file {value}")
        elif name == "--entrypoint":
            entry_point = value
    if at >= len(words):
        raise InputError(f"docker {verb}", "names no image" if verb == "run" else "names no container")
    return Container(
        image=words[at],
        words=list(words[at + 1 :]),
        variables=variables,
        passed=tuple(passed),
        files=tuple(files),
        entry_point=entry_point or None,
    )


def _option(words: Sequence[str], at: int) -> tuple[str, str | None, int]:
    """The option's name, its value, and where the next one begins."""
    word = words[at]
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        if equals:
            return name, value, at + 1
        return (name, None, at + 1) if name in _SWITCHES else (name, _value(words, at), at + 2)
    letters = word[1:]
    while letters and letters[0] in _SHORT_SWITCHES:
        letters = letters[1:]
    if not letters:
        return word, None, at + 1
    if len(letters) > 1:
        return f"-{letters[0]}", letters[1:].removeprefix("="), at + 1
    return f"-{letters}", _value(words, at), at + 2


def _value(words: Sequence[str], at: int) -> str | None:
    return words[at + 1] if at + 1 < len(words) else None
