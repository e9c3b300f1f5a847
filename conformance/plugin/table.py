"""Writes the tables of docs/plugin.md from the recorded answers.

usage: python -m conformance.plugin.table [--check]
"""

import argparse
import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence

from conformance.home import PACKAGE
from conformance.plugin import record
from conformance.plugin.beyond import BEYOND
from conformance.plugin.rows import RELEASES, ROWS, Row

PAGE = PACKAGE.parent / "docs" / "plugin.md"
HEAD = ("| what | vLLM | without the plugin | with it |", "| --- | --- | --- | --- |")
Outcomes = tuple[str, str]


def marks(name: str) -> tuple[str, str]:
    """What stands before and after a table in the page."""
    return f"<!-- table {name} -->", f"<!-- end of table {name} -->"


def tables() -> dict[str, str]:
    """Each table, by its name."""
    asked = record.recorded("rows")
    found = {release: {one["row"]: one for one in record.read("rows", release)} for release in asked}
    return {"broken": _table(ROWS, found), "beyond": _table(BEYOND, found), "online": _online()}


def _table(rows: Iterable[Row], found: dict[str, dict[str, record.Record]]) -> str:
    lines = [*HEAD]
    for row in rows:
        asked = [release for release in row.releases() if row.id in found.get(release, {})]
        outcomes = [(release, _outcomes(found[release][row.id])) for release in asked]
        title = row.title
        for releases, (without, with_it) in _ranges(outcomes):
            lines.append(f"| {title} | {releases} | {without} | {with_it} |")
            title = ""
    return "\n".join(lines)


def _outcomes(one: record.Record) -> Outcomes:
    return _text(one["without"]), _text(one["with"])


def _text(outcome: record.Record | None) -> str:
    """What is broken stands out."""
    if outcome is None:
        return "not asked"
    text = outcome["text"].replace("|", "\\|")
    return text if outcome["sound"] else f"**{text}**"


def _ranges(outcomes: Sequence[tuple[str, Outcomes]]) -> Iterator[tuple[str, Outcomes]]:
    """Releases in a row with the same outcomes; what was not asked in between ends a range."""
    places = [(RELEASES.index(release), found) for release, found in outcomes]
    keyed = [(place - count, place, found) for count, (place, found) in enumerate(places)]
    for (_, found), members in itertools.groupby(keyed, key=lambda one: (one[0], one[2])):
        releases = [RELEASES[place] for _, place, _ in members]
        yield releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}", found


def _online() -> str:
    lines = ["| vLLM | starts | slots as 0.33.0 makes them |", "| --- | --- | --- |"]
    for release in record.recorded("online"):
        found = record.read("online", release)
        lines.append(f"| {release} | {len(found)} | {sum(one['same'] for one in found)} |")
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with its tables as they are recorded now."""
    for name, table in tables().items():
        start, end = marks(name)
        before, _, rest = text.partition(start)
        _, _, after = rest.partition(end)
        text = f"{before}{start}\n{table}\n{end}{after}"
    return text


def main() -> int:
    """Run the command line. Its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="say whether the page is as it should be, write nothing")
    arguments = parser.parse_args()
    text = PAGE.read_text("utf-8")
    new = page(text)
    if arguments.check:
        return 0 if new == text else 1
    PAGE.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
