"""Writes fse_core/doctor/flags.json anew: the options of `vllm serve` in every known release, by the releases' parsers.

usage: python -m conformance.flags [RELEASE...]     (those alone are asked; the rest stays as it is)
       python -m conformance.flags --parse RELEASE...     (what the parsers make of parsed.json's command lines)
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.home import PACKAGE, default_home
from conformance.live.ask import environment
from fse_core import releases

FILE = PACKAGE.parent / "fse_core" / "doctor" / "flags.json"
PARSED = PACKAGE / "recorded" / "parsed.json"
Row = dict[str, Any]


def ask(release: str, *words: str) -> list[Row]:
    """The release's options, or what it makes of a file of words. RuntimeError where its parser cannot be made."""
    home = default_home(release)
    done = subprocess.run(
        [str(home.python), "-P", "-m", "conformance.live.parser", *words],
        capture_output=True,
        text=True,
        check=False,
        env=environment(home, "gfx942"),
        cwd=home.root,
    )
    if done.returncode:
        raise RuntimeError(f"{release}: {done.stderr.strip().splitlines()[-1]}")
    rows: list[Row] = json.loads(done.stdout)
    return rows


def known() -> dict[str, list[Row]]:
    """What the file holds, by release."""
    rows: list[Row] = json.loads(FILE.read_text()) if FILE.exists() else []
    return {release: list(_of(rows, release)) for release in releases.known()}


def _of(rows: list[Row], release: str) -> Iterator[Row]:
    number = releases.parsed(release).numbers
    for row in rows:
        if releases.parsed(row["since"]).numbers <= number <= releases.parsed(row["until"]).numbers:
            yield {key: row[key] for key in ("options", "dest", "kind")}


def merged(answers: Mapping[str, Sequence[Row]]) -> list[Row]:
    """A row for each option and run of neighbouring releases in which it is the same, in the order of its names."""
    runs: dict[str, list[tuple[int, int]]] = {}
    for place, release in enumerate(releases.known()):
        for row in answers[release]:
            spans = runs.setdefault(json.dumps(row), [])
            if spans and spans[-1][1] == place - 1:
                spans[-1] = (spans[-1][0], place)
            else:
                spans.append((place, place))
    names = releases.known()
    rows = [
        {**json.loads(text), "since": names[first], "until": names[last]}
        for text, spans in runs.items()
        for first, last in spans
    ]
    return sorted(rows, key=lambda row: (row["dest"], releases.parsed(row["since"]).numbers))


def write(rows: Sequence[Row]) -> None:
    """A line a row."""
    FILE.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def record(names: Sequence[str]) -> None:
    """Have releases parse the command lines."""
    whole = json.loads(PARSED.read_text())
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(whole["lines"], file)
        file.flush()
        for release in names:
            whole["answers"][release] = ask(release, file.name)
            print(f"{release}: {len(whole['lines'])} lines", flush=True)
    lines = ",\n".join(map(json.dumps, whole["lines"]))
    answers = ",\n".join(
        f"{json.dumps(release)}: [\n" + ",\n".join(map(json.dumps, rows)) + "\n]"
        for release, rows in whole["answers"].items()
    )
    PARSED.write_text(f'{{"lines": [\n{lines}\n],\n"answers": {{\n{answers}\n}}}}\n')


def main() -> int:
    """Run the command line. Its exit code."""
    if sys.argv[1:2] == ["--parse"]:
        record(sys.argv[2:])
        return 0
    answers = known()
    for release in sys.argv[1:] or releases.known():
        answers[release] = ask(release)
        print(f"{release}: {len(answers[release])} options", flush=True)
    write(merged(answers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
