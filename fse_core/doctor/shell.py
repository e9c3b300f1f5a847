"""A pasted shell text in words: quotes, escapes, continued lines, comments, variables, one list of words a command."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fse_core.errors import InputError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_BRACED = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)(?::?-([^{}]*))?\}")
_PROMPT = re.compile(r"^[ \t]*[$#>][ \t]+(?=\S)", re.MULTILINE)
_CONTINUED = re.compile(r"\\[ \t]*\r?\n")
_LARGEST = 1 << 20


@dataclass(kw_only=True)
class Script:
    """The words of each command in turn, with the variables exported before it, and those that were only set."""

    commands: list[tuple[list[str], dict[str, str]]] = field(default_factory=list)
    exported: dict[str, str] = field(default_factory=dict)
    only_set: dict[str, str] = field(default_factory=dict)


def read(text: str) -> Script:
    """The text's commands. InputError where a quote is left open.

    `export` lines and assignments that stand alone are taken in; a variable that the text does not set stays as it is
    written, as do substitutions of commands. A prompt before a line (`$ `) is no part of it.
    """
    if len(text) > _LARGEST:
        raise InputError("the command", f"is longer than {_LARGEST} characters")
    script = Script()
    plain = _CONTINUED.sub(" ", _PROMPT.sub(_without_prompt, text))
    for words in _Reader(plain, script).commands():
        _take(words, script)
    return script


def _without_prompt(match: re.Match[str]) -> str:
    """A `#` begins a comment, unless a line of it is a prompt, which nothing tells: it is taken for a comment."""
    return match[0] if "#" in match[0] else ""


def assignment(word: str) -> tuple[str, str] | None:
    """The name and value of `NAME=value`."""
    match = _ASSIGNMENT.fullmatch(word)
    return None if match is None else (match[1], match[2])


def _take(words: list[str], script: Script) -> None:
    if words[0] in ("export", "declare", "typeset"):
        for word in words[1:]:
            pair = assignment(word)
            if pair is not None:
                script.exported[pair[0]] = pair[1]
                script.only_set.pop(pair[0], None)
            elif word in script.only_set:
                script.exported[word] = script.only_set.pop(word)
        return
    pairs = [assignment(word) for word in words]
    if all(pair is not None for pair in pairs):
        for name, value in filter(None, pairs):
            owner = script.exported if name in script.exported else script.only_set
            owner[name] = value
        return
    script.commands.append((words, dict(script.exported)))


class _Reader:
    """Goes through a text once. `script` says which variables there are by now."""

    def __init__(self, text: str, script: Script) -> None:
        self.text = text
        self.script = script
        self.at = 0
        self.word: list[str] | None = None
        self.words: list[str] = []

    def commands(self) -> Iterator[list[str]]:
        """The words of each command."""
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in "\n;|&":
                self.at += 1
                yield from self._command()
            elif character in " \t\r":
                self.at += 1
                self._end_word()
            elif character in "<>":
                self._redirection()
            elif character == "#" and self.word is None:
                self._comment()
            else:
                self._part(character)
        yield from self._command()

    def _command(self) -> Iterator[list[str]]:
        self._end_word()
        if self.words:
            words, self.words = self.words, []
            yield words

    def _end_word(self) -> None:
        if self.word is not None:
            self.words.append("".join(self.word))
            self.word = None

    def _add(self, text: str) -> None:
        self.word = [*(self.word or ()), text]

    def _part(self, character: str) -> None:
        match character:
            case "'":
                end = self._find("'", self.at + 1)
                self._add(self.text[self.at + 1 : end])
                self.at = end + 1
            case '"':
                self._double()
            case "\\":
                self._add(self.text[self.at + 1 : self.at + 2])
                self.at += 2
            case "$":
                self._variable()
            case _:
                end = self.at + 1
                while end < len(self.text) and self.text[end] not in " \t\r\n;|&<>'\"\\$":
                    end += 1
                self._add(self.text[self.at : end])
                self.at = end

    def _double(self) -> None:
        self._add("")
        self.at += 1
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == '"':
                self.at += 1
                return
            if character == "$":
                self._variable()
            elif character == "\\" and self.text[self.at + 1 : self.at + 2] in ('"', "\\", "$", "`"):
                self._add(self.text[self.at + 1])
                self.at += 2
            else:
                end = min((at for at in map(self._next, '"$\\') if at > self.at), default=len(self.text))
                self._add(self.text[self.at : end])
                self.at = end
        raise InputError("the command", 'a quote (") is left open')

    def _next(self, character: str) -> int:
        return self.text.find(character, self.at + 1)

    def _find(self, quote: str, start: int) -> int:
        end = self.text.find(quote, start)
        if end < 0:
            raise InputError("the command", f"a quote ({quote}) is left open")
        return end

    def _variable(self) -> None:
        """The value of `$NAME`, `${NAME}` or `${NAME:-default}`; what is not known stays as it is."""
        rest = self.at + 1
        braced = _BRACED.match(self.text, rest)
        named = braced or _NAME.match(self.text, rest)
        if named is None:
            self._add("$")
            self.at = rest
            return
        name = named[1] if braced else named[0]
        value = self._value(name)
        if value is None and braced:
            value = braced[2]
        self._add(self.text[self.at : named.end()] if value is None else value)
        self.at = named.end()

    def _value(self, name: str) -> str | None:
        known: Mapping[str, str] = self.script.only_set
        return known.get(name, self.script.exported.get(name))

    def _redirection(self) -> None:
        """Leaves out `>`, `2>&1` and `< file` with what they name."""
        if self.word is not None and "".join(self.word).isdigit():
            self.word = None
        self._end_word()
        while self.at < len(self.text) and self.text[self.at] in "<>&":
            self.at += 1
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        before = self.words
        self.words = []
        while self.at < len(self.text) and self.text[self.at] not in " \t\r\n;|&<>":
            self._part(self.text[self.at])
        self.word, self.words = None, before

    def _comment(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end
