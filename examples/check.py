"""Checks every example without a network and compares with what its expected.json says.

usage: python examples/check.py     (exit status 1 if one differs)
"""

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fse_core import Report, Target, check
from fse_core.output.words.summary import summary
from fse_core.read.source import read_model

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, kw_only=True)
class Example:
    """A folder with a config.json, the target to check it for, and the answer that the release itself gave."""

    folder: Path
    target: Target
    expected: dict[str, Any]

    @property
    def name(self) -> str:
        return self.folder.name.replace("--", "/", 1)

    def check(self) -> Report:
        return check(read_model(str(self.folder)), self.target)


def examples() -> list[Example]:
    """All of them, by name."""
    return [_read(path.parent) for path in sorted(HERE.glob("*/config.json"))]


def _read(folder: Path) -> Example:
    target = folder / "target.json"
    return Example(
        folder=folder,
        target=Target(**json.loads(target.read_bytes())) if target.exists() else Target(),
        expected=json.loads((folder / "expected.json").read_bytes()),
    )


def observed(report: Report) -> dict[str, Any]:
    """The report in the shape of an expected.json: how many layers of each part, and the first words that count."""
    return {
        "verdict": report.verdict,
        "target": _counts(report, "target"),
        "draft": _counts(report, "draft"),
        "says": _says(report),
    }


def _counts(report: Report, part: str) -> dict[str, int]:
    return dict(Counter(layer.decision.decision for layer in report.layers if layer.part == part))


def _says(report: Report) -> str | None:
    errors = [layer.decision.error for layer in report.layers if layer.decision.error is not None]
    failure = report.startup_error or (errors[0] if errors else None)
    if failure is not None:
        return f"{failure.type}: {failure.message}"
    reasons = [layer.decision.reason for layer in report.layers if layer.decision.reason is not None]
    return report.undecided_reason or (reasons[0] if reasons else None)


def main() -> int:
    """Prints each example's answer and whether all are as expected."""
    count = different = 0
    for example in examples():
        report = example.check()
        seen = observed(report)
        print(example.name, f"  {summary(report)[0]}", sep="\n")
        if seen["says"] is not None:
            print(f"  {seen['says']}")
        count += 1
        if seen != example.expected:
            different += 1
            print(f"  DIFFERS: expected {json.dumps(example.expected)}")
    print(f"\n{count} examples checked, {count - different} as vLLM itself answered")
    return 1 if different or not count else 0


if __name__ == "__main__":
    sys.exit(main())
