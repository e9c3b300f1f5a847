"""What a command hands to a pod or to another machine, where none of the caller's variables are."""

from collections.abc import Sequence

from fse_core.doctor import docker
from fse_core.doctor.docker import Container
from fse_core.doctor.shell import assignment
from fse_core.errors import InputError

_KUBECTL = ("kubectl", "oc", "k3s")
_NEAR = 16
"""Among so many words after `kubectl` is what it is to do."""
_SSH_TAKES = frozenset("BbcDEeFIiJLlmOoPpQRSWw")


def read(words: Sequence[str], at: int, stdin: str | None) -> Container | None:
    """What is run elsewhere by the command that begins there, None where it is none of those."""
    name = words[at].rpartition("/")[2]
    if docker.is_exec(words, at):
        return docker.read_exec(words[at:])
    if name in _KUBECTL:
        verb = next((word for word in words[at + 1 : at + _NEAR] if word in ("run", "exec")), None)
        return {"run": _run, "exec": _exec}[verb](words[at + 1 :]) if verb is not None else None
    return _ssh(words[at + 1 :], stdin) if name == "ssh" else None


def _exec(words: Sequence[str]) -> Container:
    """`kubectl exec POD -- COMMAND`."""
    if "--" not in words:
        raise InputError("kubectl exec", "has no -- before the command")
    return Container(image="", words=list(words[words.index("--") + 1 :]), unseen="the pod has already")


def _run(words: Sequence[str]) -> Container:
    """`kubectl run NAME --image=IMAGE [--env=NAME=VALUE] [--command] -- WORDS`."""
    options = list(words[: words.index("--")] if "--" in words else words)
    variables: dict[str, str] = {}
    image = ""
    for at, word in enumerate(options):
        name, equals, value = word.partition("=")
        value = value if equals else "".join(options[at + 1 : at + 2])
        if name == "--image":
            image = value
        elif name == "--env" and (pair := assignment(value)) is not None:
            variables[pair[0]] = pair[1]
    if not image:
        raise InputError("kubectl run", "names no --image")
    given = list(words[len(options) + 1 :])
    if "--command" not in options:
        return Container(image=image, words=given, variables=variables)
    if not given:
        raise InputError("kubectl run", "has --command and no command")
    return Container(image=image, words=given[1:], variables=variables, entry_point=given[0])


def _ssh(words: Sequence[str], stdin: str | None) -> Container | None:
    """`ssh HOST WORDS`: a shell there reads the words, joined again, or what ssh is given to read."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at][-1] in _SSH_TAKES and len(words[at]) == 2 else 1
    text = " ".join(words[at + 1 :]) or stdin
    if text is None:
        return None
    if stdin is not None and text is not stdin:
        return Container(image="", words=["sh", "-c", f"{text} <<'{_END}'\n{stdin}\n{_END}"], unseen=_THERE)
    return Container(image="", words=["sh", "-c", text], unseen=_THERE)


_END = "END-OF-WHAT-SSH-READS"
_THERE = "the other machine sets"
