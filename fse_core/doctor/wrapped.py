"""What assignments, `env` and `sudo` before a command leave of the variables."""

import re
import shlex

from fse_core.doctor.result import Problem, Severity
from fse_core.doctor.variables import Seen, assignment
from fse_core.errors import InputError

_HAND_ON = frozenset(
    (
        "chrt", "command", "conda", "exec", "gdb", "hatch", "ionice", "mamba", "micromamba", "mpiexec", "mpirun",
        "nice", "nohup", "numactl", "pdm", "pipenv", "pixi", "poetry", "rocprof", "rocprofv2", "rocprofv3", "setsid",
        "srun", "stdbuf", "strace", "taskset", "time", "timeout", "tini", "torchrun", "unbuffer", "uv", "vllm",
        "bash", "dash", "ksh", "sh", "su", "zsh",
    )
)  # fmt: skip
"""What runs the rest of its words with the variables that it has itself."""
_PYTHON = re.compile(r"python[\d.]*")
_ENV_TAKES = ("-C", "--chdir")
_SUDO_TAKES = frozenset("ughpCcDRrtTU")
_SUDO_LONG = frozenset(
    (
        "--user", "--group", "--host", "--prompt", "--close-from", "--chdir", "--chroot", "--role", "--type",
        "--command-timeout", "--other-user",
    )
)  # fmt: skip
_SUDO = "sudo hands on no variable of its caller's, by its usual policy: write them after it, or use sudo -E"
_NEAR = 32
"""So near to `srun` its options are looked for."""
_OURS = ("VLLM_", "FSE_")


class Wrapped:
    """What is left of `outer` after what stands before a command.

    `bare` where all others are removed, but for those in `passed`; `problems` tell of it. `begins` until the name of a
    program was there that is none of these two.
    """

    def __init__(self, outer: Seen) -> None:
        self.outer = outer
        self.own: dict[str, str | None] = {}
        self.bare = False
        self.begins = True
        self.passed: tuple[str, ...] = ()
        self.problems: tuple[Problem, ...] = ()

    def take(self, words: list[str], at: int) -> int:
        """Takes in what stands at `at`; where the next thing begins."""
        name, pair = words[at].rpartition("/")[2], assignment(words[at])
        if pair is not None:
            self.own[pair[0]] = pair[1]
        elif name == "env":
            return self._env(words, at + 1)
        elif name == "sudo":
            return self._sudo(words, at + 1)
        elif self.begins:
            self.begins = False
            self._through(name)
            if name == "srun":
                self._srun(words[at + 1 : at + _NEAR])
        return at + 1

    def _srun(self, words: list[str]) -> None:
        """Takes in what `srun --export` hands on, which is all where it says so, or is not there."""
        joined = " ".join(words).replace("--export ", "--export=").split(" ")
        listed = next((word.partition("=")[2].split(",") for word in joined if word.startswith("--export=")), ["ALL"])
        if "ALL" not in listed:
            names = [one for one in listed if one != "NONE" and "=" not in one]
            self._keep(names, "srun --export hands on nothing else of its caller's")
        self.own |= dict(pair for one in listed if (pair := assignment(one)) is not None)

    def _env(self, words: list[str], at: int) -> int:
        """Takes the options of `env` in, which begin at `at`; where its other words begin.

        What -S holds is split into `words` of its own.
        """
        while at < len(words) and words[at].startswith("-"):
            word = words[at]
            at += 1
            if word in ("-i", "-", "--ignore-environment"):
                self._strip()
            elif word in ("-u", "--unset"):
                self.own |= dict.fromkeys(words[at : at + 1])
                at += 1
            elif word.startswith(("-S", "--split-string")):
                text = word.removeprefix("-S") if word.startswith("-S") else word.removeprefix("--split-string")
                text = text.removeprefix("=")
                end = at if text else at + 1
                words[at:end] = _split(text or "".join(words[at:end]))
            elif word.startswith(("-u", "--unset=")):
                self.own[word.removeprefix("-u").removeprefix("--unset=")] = None
            elif word in _ENV_TAKES:
                at += 1
        return at

    def _sudo(self, words: list[str], at: int) -> int:
        """Takes the options of `sudo` in, which begin at `at`; where its other words begin."""
        kept: list[str] | None = []
        while at < len(words) and words[at].startswith("-") and words[at] != "--":
            word = words[at]
            at += 1
            name, equals, value = word.partition("=")
            if name == "--preserve-env":
                kept = [*kept, *value.split(",")] if equals and kept is not None else None
            elif word.startswith("--"):
                at += word in _SUDO_LONG
            else:
                letters = word[1:]
                takes = next((place for place, letter in enumerate(letters) if letter in _SUDO_TAKES), len(letters))
                kept = None if "E" in letters[:takes] else kept
                at += takes == len(letters) - 1
        if kept is not None:
            self._keep(kept, _SUDO)
        return at + (words[at : at + 1] == ["--"])

    def _keep(self, kept: list[str], why: str) -> None:
        """Without the caller's other variables. Those in `kept` that nothing here sets may come from outside."""
        before = self.seen().exported
        lost = sorted(name for name in before if name.startswith(_OURS) and name not in kept)
        named = f" (here: {', '.join(lost)})" if lost else ""
        if lost or not kept:
            self.tell("warning" if lost else "info", f"{why}{named}")
        self._strip()
        self.own = {name: before[name] for name in kept if name in before}
        self.passed = tuple(name for name in kept if name not in before)

    def log_in(self) -> None:
        """A login shell of another user begins."""
        self.tell("warning", "what the login of another user sets is not seen here, and what was set before is gone")
        self._strip()

    def _through(self, name: str) -> None:
        """A program that runs the rest of the words."""
        if name not in _HAND_ON and not _PYTHON.fullmatch(name):
            what = f"{name} is not known here: it is taken to run what follows with the variables that it has itself"
            self.tell("info", what)

    def tell(self, severity: Severity, message: str) -> None:
        """Keeps what is to be said, once."""
        problem = Problem(severity=severity, message=message)
        if problem not in self.problems:
            self.problems = (*self.problems, problem)

    def _strip(self) -> None:
        self.bare, self.own, self.passed = True, {}, ()

    def seen(self) -> Seen:
        """The variables that the command finds."""
        if not self.own and not self.bare:
            return self.outer
        outer = {} if self.bare else self.outer.exported
        whole = {name: value for name, value in {**outer, **self.own}.items() if value is not None}
        gone = {name for name, value in self.own.items() if value is None}
        return Seen(exported=whole, removed=frozenset((self.outer.removed | gone) - whole.keys()))


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError("env -S", f"cannot be split into words: {error}") from None
