"""Counts what the cases reached: families, options, classes, reasons, errors."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from conformance import truth
from conformance.case import Case
from conformance.fuzzing.models import buildable
from fse_core import releases

UNREACHABLE = frozenset({"deepseek_v4_no_block", "deepseek_v4_excludes", "deepseek_v4_not_mxfp4"})
"""Reasons of the release that no checkpoint can be given: their branch comes after others that answer first."""

NO_REASONS = frozenset({"layers_disagree", "mori", "mori_without_aiter"})
OPTIONS = (
    "tp",
    "ep",
    "dp",
    "pcp",
    "pp",
    "gfx",
    "moe_backend",
    "all2all_backend",
    "eplb",
    "dbo",
    "environment",
    "overlay",
    "draft",
)
ERRORS = (
    "NotImplementedError: Fused shared experts must", "ValueError: Detected some but not",
    "ValueError: Found different",
    "AssertionError: Mori does not", "ValueError: DeepSeek-V4 fused shared", "ValueError: Found unmatched shards",
    "ValueError: Found multiple", "ValueError: targets pattern", "ValueError: Layer",
    "RuntimeError: Unsupported FusedMoe",
)  # fmt: skip
FIELD = re.compile(r"\\\{\w+\\\}")


class Coverage:
    """How many cases reached each thing: of those in which the release decided a layer, and for errors of all."""

    def __init__(self, release: str) -> None:
        self.expected = expected(release)
        self.counts: Counter[tuple[str, str]] = Counter(dict.fromkeys(self.expected, 0))
        self.patterns = {name: _pattern(words) for name, words in _reasons(release)}

    def add(self, case: Case, answer: Mapping[str, Any], *, decided: bool) -> None:
        errors = (("error", self.error(*error)) for error in _errors(answer))
        self.counts.update({*errors, *(self._reached(case, answer) if decided else ())})

    def _reached(self, case: Case, answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        yield "family", case.name.rpartition(" ")[0]
        yield "class", str(answer["quantization"])
        for name in case.target_options().keys() & set(OPTIONS):
            yield "option", name
        for said in truth.layers(answer).values():
            if said.decision == "fused":
                yield "decision", "fused"
            elif said.decision == "separate":
                yield "reason", self.reason(said.reason)

    def reason(self, text: str | None) -> str:
        """The name that the release's data gives the reason."""
        if text is None:
            return "none given"
        return next((name for name, pattern in self.patterns.items() if pattern.fullmatch(text)), "of the class")

    def error(self, type: str, message: str) -> str:
        """The first words of an error."""
        known = next((error for error in ERRORS if f"{type}: {message}".startswith(error)), None)
        words = re.sub(r"\S*[\d.]\S*", "#", message.replace("\n", " ")).split()[:4]
        return known or f"{type}: {' '.join(words)}"

    def below(self, minimum: int) -> list[tuple[str, str]]:
        """What the run was to reach that often, and did not."""
        return [key for key in self.expected if self.counts[key] < minimum]

    def table(self) -> Iterator[str]:
        for kind in ("family", "option", "class", "decision", "reason", "error"):
            yield f"\n{kind}"
            for (group, name), count in sorted(self.counts.items(), key=lambda item: (-item[1], item[0])):
                if group == kind:
                    yield f"  {count:6}  {name}"


def _errors(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from (said.error for said in truth.layers(answer).values() if said.error)
    error = truth.startup_error(answer)
    if error and truth.is_about_fusion(answer):
        yield error


def _reasons(release: str) -> Iterator[tuple[str, str]]:
    words = releases.load(release).words
    return ((name, text) for name, text in words.items() if name not in UNREACHABLE | NO_REASONS)


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(FIELD.sub(".+", re.escape(words)))


def expected(release: str) -> list[tuple[str, str]]:
    """Everything that a long run is to reach."""
    return [
        *(("family", name) for name in buildable(release)),
        *(("option", name) for name in OPTIONS),
        *(("reason", name) for name, _ in _reasons(release)),
        ("reason", "none given"), ("reason", "of the class"),
        *(("error", error) for error in ERRORS),
    ]  # fmt: skip
