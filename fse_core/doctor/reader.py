"""Goes through shell text once: quotes, escapes, continued lines, comments, here-documents, arrays, variables."""

import re
from collections.abc import Callable, Iterator

from fse_core.doctor.variables import DECLARES, Variables, assignment
from fse_core.errors import InputError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACED = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)(?:(\[[@*]\])|:?-([^{}]*))?\}")
_BEGINS = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_PROMPT = re.compile(r"[ \t]*([$>])[ \t]+(?=\S)")
_CONTINUED = re.compile(r"\\([ \t]*)\r?\n")
_PLAIN = re.compile(r"[^ \t\r\n;|&<>()'\"\\$`]+")
_QUOTED = re.compile(r'[^"\\$`]+')
_HERE = re.compile(r"<<(-?)[ \t]*(['\"\\]?)([^\s'\";|&<>()\\]+)['\"]?")
_IN_DOCUMENT = re.compile(r"\\([\\$`])|\$(?:\{([A-Za-z_]\w*)(?:(?:\[[@*]\])|:?-([^{}]*))?\}|([A-Za-z_]\w*))", re.ASCII)
_PARENTHESIS = re.compile(r"[()]")
_SPACE = re.compile(r"[ \t\r\n]+")
_LARGEST = 1 << 22
"""What variables may make of a text."""


def without_prompts(text: str) -> str:
    """The text without the prompt before a line: `$`, and `>` where no command or one with a prompt goes on.

    A `#` begins a comment, unless a line of it is a prompt, which nothing tells: it is taken for a comment. A `>` on a
    line that continues a command without a prompt sends its output to a file.
    """
    lines = []
    continued = prompted = False
    for line in text.splitlines(keepends=True):
        found = _PROMPT.match(line)
        strip = found is not None and (not continued or (prompted and found[1] == ">"))
        if not continued:
            prompted = strip
        lines.append(line[found.end() :] if found is not None and strip else line)
        continued = line.rstrip().endswith("\\") and not line.lstrip().startswith("#")
    return "".join(lines)


class Reader:
    """`variables` says which there are by now."""

    def __init__(self, text: str, variables: Variables) -> None:
        self.text = text
        self.variables = variables
        self.at = 0
        self.size = 0
        self.word: list[str] | None = None
        self.words: list[str] = []
        self.leading = True
        self.stdin: str | None = None
        self.after_documents: int | None = None

    def commands(self) -> Iterator[tuple[list[str], str | None]]:
        """The words of each command, with what a here-document or a here-string gives it to read."""
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "(" and self._array():
                continue
            if character in "\n;|&()":
                self.at += 1
                yield from self._command()
                self._between(character)
            else:
                self._step(character)
        yield from self._command()

    def _between(self, character: str) -> None:
        if character == "(":
            self.variables.enter()
        elif character == ")":
            self.variables.leave()
        elif character == "\n" and self.after_documents is not None:
            self.at, self.after_documents = self.after_documents, None

    def _step(self, character: str) -> None:
        """Takes one thing that ends no command."""
        if character in " \t\r":
            self.at += 1
            self._end_word()
        elif character in "<>":
            self._redirection()
        elif character == "#" and self.word is None:
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        else:
            self._part(character)

    def _command(self) -> Iterator[tuple[list[str], str | None]]:
        self._end_word()
        words, stdin = self.words, self.stdin
        self.words, self.leading, self.stdin = [], True, None
        if words:
            yield words, stdin

    def _end_word(self) -> None:
        if self.word is not None:
            word = "".join(self.word)
            self.leading = self.leading and assignment(word) is not None
            self.words.append(word)
            self.word = None

    def _add(self, text: str) -> None:
        self.size += len(text)
        if self.size > _LARGEST:
            raise InputError("the command", f"becomes longer than {_LARGEST} characters by its variables")
        if self.word is None:
            self.word = []
        self.word.append(text)

    def _part(self, character: str) -> None:
        if character == "'":
            end = self._find("'", self.at + 1)
            self._add(self.text[self.at + 1 : end])
            self.at = end + 1
        elif character == '"':
            self._double()
        elif character == "\\":
            self._escaped()
        elif character in "$`":
            self._variable(quoted=False)
        else:
            plain = _PLAIN.match(self.text, self.at)
            end = plain.end() if plain is not None else self.at + 1
            self._add(self.text[self.at : end])
            self.at = end

    def _escaped(self) -> None:
        """The next character as it is, or a line that goes on: with spaces before its end, as pastes have them."""
        continued = _CONTINUED.match(self.text, self.at)
        if continued is None:
            self._add(self.text[self.at + 1 : self.at + 2])
            self.at += 2
            return
        self.at = continued.end()
        if continued[1]:
            self._end_word()

    def _double(self) -> None:
        self._add("")
        self.at += 1
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == '"':
                self.at += 1
                return
            if character in "$`":
                self._variable(quoted=True)
            elif character == "\\":
                after = self.text[self.at + 1 : self.at + 2]
                self._add("" if after == "\n" else after if after in ('"', "\\", "$", "`") else f"\\{after}")
                self.at += 2
            else:
                plain = _QUOTED.match(self.text, self.at)
                end = plain.end() if plain is not None else self.at + 1
                self._add(self.text[self.at : end])
                self.at = end
        raise InputError("the command", 'a quote (") is left open')

    def _find(self, quote: str, start: int) -> int:
        end = self.text.find(quote, start)
        if end < 0:
            raise InputError("the command", f"a quote ({quote}) is left open")
        return end

    def _variable(self, *, quoted: bool) -> None:
        """The value of `$NAME`, `${NAME}`, `${NAME:-default}` or `${NAME[@]}`; what is not known stays as it is."""
        rest = self.at + 1
        braced = _BRACED.match(self.text, rest) if self.text[self.at] == "$" else None
        named = braced or (_NAME.match(self.text, rest) if self.text[self.at] == "$" else None)
        if named is None:
            end = self._substitution()
            self._add(self.text[self.at : end])
            self.at = end
            return
        raw = self.text[self.at : named.end()]
        self.at = named.end()
        name = named[1] if braced else named[0]
        if braced and braced[2] and name in self.variables.arrays:
            self._items(self.variables.arrays[name], quoted=quoted, joined=braced[2] == "[*]")
            return
        value = self.variables.value(name)
        if not value and braced and braced[3] is not None:
            value = braced[3]
        if value is None or quoted or self._assigns():
            self._add(raw if value is None else value)
        else:
            self._split(value)

    def _assigns(self) -> bool:
        """Whether the word is an assignment so far, in which nothing is split."""
        declares = self.words[0] in DECLARES if self.words else False
        return (self.leading or declares) and self.word is not None and _BEGINS.match(self.word[0]) is not None

    def _split(self, value: str) -> None:
        """What is not quoted is several words where it holds spaces."""
        for number, part in enumerate(_SPACE.split(value)):
            if number:
                self._end_word()
            if part:
                self._add(part)

    def _items(self, items: list[str], *, quoted: bool, joined: bool) -> None:
        if quoted and joined:
            self._add(" ".join(items))
            return
        if quoted and not items and self.word == [""]:
            self.word = None  # "${NONE[@]}" is no word at all
        for number, item in enumerate(items):
            if number:
                self._end_word()
            if quoted:
                self._add(item)
            else:
                self._split(item)

    def _substitution(self) -> int:
        """Where `$(...)` or what is between backticks ends; a `$` alone is one character."""
        if self.text[self.at] == "`":
            end = self.text.find("`", self.at + 1)
            if end < 0:
                raise InputError("the command", "a backtick is left open")
            return end + 1
        if self.text[self.at + 1 : self.at + 2] != "(":
            return self.at + 1
        depth = 0
        for found in _PARENTHESIS.finditer(self.text, self.at + 1):
            depth += 1 if found[0] == "(" else -1
            if not depth:
                return found.end()
        raise InputError("the command", "a $( is left open")

    def _array(self) -> bool:
        """Takes in `NAME=(...)`; whether it was one."""
        begins = _BEGINS.fullmatch("".join(self.word)) if self.word is not None and len(self.word) == 1 else None
        if begins is None:
            return False
        self.at += 1
        self.word, kept, self.words = None, self.words, []
        while self.at < len(self.text) and self.text[self.at] != ")":
            if self.text[self.at] in "\n;|&(":
                self.at += 1
                self._end_word()
            else:
                self._step(self.text[self.at])
        self._end_word()
        self.at += 1
        items, self.words = self.words, kept
        self.variables.array(begins[1], items, more=bool(begins[2]))
        return True

    def _redirection(self) -> None:
        """Leaves out `>`, `2>&1` and `< file` with what they name, and keeps what a document gives to be read."""
        if self.word is not None and len(self.word) == 1 and self.word[0].isdigit():
            self.word = None
        self._end_word()
        here = _HERE.match(self.text, self.at)
        if here is not None:
            self.stdin = self._document(here[3], tabs=bool(here[1]), quoted=bool(here[2]))
            self.at = here.end()
            return
        begins = self.at
        self._while(lambda character: character in "<>&")
        is_string = self.text[begins : self.at] == "<<<"
        if self.text[self.at : self.at + 1] == "(":  # <(...) is a file, too
            self.at -= 1
            self.at = self._substitution()
            return
        self._while(lambda character: character in " \t")
        before, leading, self.words = self.words, self.leading, []
        while self.at < len(self.text) and self.text[self.at] not in " \t\r\n;|&<>()":
            self._part(self.text[self.at])
        if is_string:
            self.stdin = " ".join([*self.words, *(self.word or ())])
        self.word, self.words, self.leading = None, before, leading

    def _while(self, holds: Callable[[str], bool]) -> None:
        while self.at < len(self.text) and holds(self.text[self.at]):
            self.at += 1

    def _document(self, end: str, *, tabs: bool, quoted: bool) -> str:
        """The here-document that begins on the next line, or after the one before it. `tabs`: without leading ones."""
        at = self.after_documents
        if at is None:
            at = self.text.find("\n", self.at) + 1 or len(self.text)
        lines = []
        while at < len(self.text):
            found = self.text.find("\n", at)
            stop = len(self.text) if found < 0 else found
            line = self.text[at:stop]
            at = stop + 1
            if line.strip() == end:
                break
            lines.append(line.lstrip("\t") if tabs else line)
        self.after_documents = min(at, len(self.text))
        document = "".join(f"{line}\n" for line in lines)
        return document if quoted else self._filled(document)

    def _filled(self, document: str) -> str:
        """With the variables that are known. Another stays, so that what reads the document does not know it either."""

        def value(found: re.Match[str]) -> str:
            if found[1]:
                return found[1]
            known = self.variables.value(found[2] or found[4])
            text = known or found[3] if found[3] is not None else known
            text = f"\\{found[0]}" if text is None else text
            self.size += len(text)
            if self.size > _LARGEST:
                raise InputError("the command", f"becomes longer than {_LARGEST} characters by its variables")
            return text

        return _IN_DOCUMENT.sub(value, document)
