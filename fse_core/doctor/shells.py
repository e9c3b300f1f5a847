"""Commands that read a text as a shell does: the shells themselves, `eval`, `su`."""

from collections.abc import Sequence

from fse_core.doctor.wrapped import Wrapped

_SHELLS = ("bash", "sh", "zsh", "dash", "ksh")
_MOST_OPTIONS = 64
_FILES = ("--rcfile", "--init-file")


def script_of(words: Sequence[str], at: int, stdin: str | None, wrapped: Wrapped) -> tuple[str | None, str | None]:
    """The text that a shell at `at` reads: after -c, or from its input. Else the file that it is to read, if any."""
    name = words[at].rpartition("/")[2]
    if name in _SHELLS:
        return _of_shell(words, at + 1, stdin)
    if name == "eval" and wrapped.begins:
        return " ".join(words[at + 1 :]), None
    if name == "su" and wrapped.begins:
        return _of_su(words[at + 1 :], wrapped), None
    return None, None


def _of_shell(words: Sequence[str], at: int, stdin: str | None) -> tuple[str | None, str | None]:
    letters = ""
    end = min(len(words), at + _MOST_OPTIONS)
    while at < end and words[at][:1] in ("-", "+") and len(words[at]) > 1:
        word = words[at]
        at += 1
        if word == "--":
            break
        if word.startswith("--"):
            at += word in _FILES
            continue
        letters += word[1:] if word[0] == "-" else ""
        at += word[-1] in "oO"  # which takes the name of a setting
    operand = words[at] if at < len(words) else None
    if "c" in letters:
        return operand, None
    reads_input = operand is None or "s" in letters
    return (stdin, None) if reads_input else (None, operand)


def _of_su(words: Sequence[str], wrapped: Wrapped) -> str | None:
    """`su [-] [USER] -c TEXT`: with a dash, the login shell's variables are another's."""
    if any(word in ("-", "-l", "--login") for word in words):
        wrapped.log_in()
    for at, word in enumerate(words):
        if word in ("-c", "--command"):
            return words[at + 1] if at + 1 < len(words) else None
        if word.startswith("--command="):
            return word.removeprefix("--command=")
    return None
