"""Counts what the lines of a log say, each distinct thing once, however often and by however many processes."""

from dataclasses import dataclass, field
from typing import Final

from fse_core.doctor.log.line import Line, parsed
from fse_core.doctor.log.notice import Notice, notices, stated
from fse_core.doctor.log.scan import PATIENCE, TRACEBACK, Readable, Scanner
from fse_core.doctor.log.tracebacks import Tracebacks

MOST: Final = 4096
"""So many distinct things are kept, and so many processes of each; what is beyond is only counted."""
FACTS: Final = ("arguments", "version", "model", "built", "loaded", "serves")
TELLING: Final = ("arguments", "version")
"""Facts that are the same each time that a server says them, the one that it says once first."""
MOST_SERVERS: Final = 64
LONGEST: Final = 4096
"""What of a text is kept; more of the line with the arguments."""


@dataclass(kw_only=True)
class Entry:
    """One distinct thing: what was said, how often, by which processes, and at which byte for the first time."""

    kind: str
    text: str
    at: int
    cut: bool = False
    count: int = 0
    processes: set[str] = field(default_factory=set)


class Tally:
    """What a log said, after `read`. `broken` where a compressed file holds less than it should.

    starts: at which bytes servers begin, by the kind of line that shows it and what that says of the server.
    """

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], Entry] = {}
        self.more = 0
        self.size = 0
        self.facts: dict[str, str] = {}
        self.starts: dict[tuple[str, str], list[int]] = {}
        self.stated: tuple[int, int] | None = None
        self.broken = False
        self._named = False
        self._tracebacks = Tracebacks()

    @property
    def of_vllm(self) -> bool:
        """Whether anything is vLLM's: a traceback alone is where its lines name it."""
        kinds = {entry.kind for entry in self.entries.values()}
        return self._named or bool(self.facts) or bool(kinds - {"error", "later_error"})

    @property
    def loaded(self) -> bool:
        """Whether the model was built and its weights loaded."""
        return "loaded" in self.facts or "serves" in self.facts

    def read(self, file: Readable) -> None:
        """Goes through the log once."""
        scanner = Scanner(file)
        for at, data in scanner.lines():
            line = parsed(data, at)
            self._named = self._named or b"vllm" in data[:LONGEST].lower()
            if TRACEBACK in data:
                self._tracebacks.begin(line)
                scanner.follow = PATIENCE if self._tracebacks.open else 0
            else:
                self._take(line, whole=data.endswith(b"\n"))
            if not self._tracebacks.open:
                scanner.follow = 0
            elif scanner.follow <= 0:
                self._give_up()
        self._give_up()
        self.size = scanner.size
        self.broken = getattr(file, "broken", False)

    def _take(self, line: Line, *, whole: bool) -> None:
        ended = self._tracebacks.take(line)
        if ended is not None:
            self._raised(*ended)
            return
        for notice in notices(line, whole=whole):
            self._note(notice, line)

    def _give_up(self) -> None:
        for begun, text in self._tracebacks.rest():
            self._raised(begun, text)

    def _raised(self, begun: Line, text: str) -> None:
        """An exception, which ends the start only where nothing has been served before."""
        kind = "later_error" if "serves" in self.facts else "error"
        self._count(Notice(kind=kind, text=text[:LONGEST]), begun)

    def _note(self, notice: Notice, line: Line) -> None:
        if notice.kind in FACTS:
            self._fact(notice, line)
            return
        if (
            notice.kind == "plugin" and self.stated is None
        ):  # a draft's, which is built later, says nothing of the target
            self.stated = stated(notice.text)
        self._count(notice, line)

    def _fact(self, notice: Notice, line: Line) -> None:
        """The first of its kind counts. What differs in another is another server's."""
        text = notice.text[: 16 * LONGEST]
        self.facts.setdefault(notice.kind, text)
        key = notice.kind, text
        if notice.kind in TELLING and (key in self.starts or len(self.starts) < MOST_SERVERS):
            places = self.starts.setdefault(key, [])
            if len(places) < MOST:
                places.append(line.at)

    def servers(self) -> list[list[int]]:
        """Where each of several unlike servers begins for the first time, and again. One where they are all alike."""
        kinds = [[places for (kind, _), places in self.starts.items() if kind == told] for told in TELLING]
        return max(kinds, key=len)

    def _count(self, notice: Notice, line: Line) -> None:
        key = notice.kind, notice.text[:LONGEST]
        entry = self.entries.get(key)
        if entry is None:
            if len(self.entries) >= MOST:
                self.more += line.times
                return
            entry = Entry(kind=notice.kind, text=key[1], at=line.at, cut=notice.cut)
            self.entries[key] = entry
        entry.count += line.times
        if len(entry.processes) < MOST:
            entry.processes.add(line.process)
