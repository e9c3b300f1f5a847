"""What the rules say of a corpus of real configs, held against the answers that releases gave for them.

usage: python -m conformance.findings [FOLDER] [--show RULE]...     (or the folder's name in FSE_CORPUS)
FOLDER is what conformance.corpus takes. Told are how often each rule speaks, of how many models and with which
confidence, and every `certain` finding that a recorded answer contradicts: one that says the release does not start
where it did, or that layers are not fused that were. `--show` prints what a rule says, once for each model and wording.
Exit code 1 where any is contradicted.
"""

import argparse
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.corpus import expanded, read_case, target_of
from fse_core.check import check
from fse_core.grouping import among
from fse_core.report import Finding, Report
from fse_core.target import Target


@dataclass
class Tally:
    """How often a rule spoke, and of which models."""

    findings: int = 0
    certain: int = 0
    models: set[str] = field(default_factory=set)


@dataclass
class Seen:
    """All that was found: tallies by rule, contradictions, and wordings by rule and model."""

    reports: int = 0
    tallies: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    contradicted: list[str] = field(default_factory=list)
    said: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def take(self, name: str, target: Target, report: Report, recorded: Mapping[str, Any]) -> None:
        """The findings of one report, with what the release answered."""
        self.reports += 1
        for finding in report.findings:
            tally = self.tallies[f"{finding.rule} {finding.name}"]
            tally.findings += 1
            tally.certain += finding.confidence == "certain"
            tally.models.add(name)
            self.said[finding.rule, name].add(_without_numbers(finding))
            why = contradiction(finding, report, expanded(recorded, report))
            if why is not None:
                words = f"{name} vLLM {target.vllm} {target.gfx} tp{target.tp}: {finding.rule}: {finding.message}"
                self.contradicted.append(f"{words} But {why}.")


def _without_numbers(finding: Finding) -> str:
    """The wording: releases differ, and so do their layers."""
    return re.sub(r"vLLM \d+\.\d+\.\d+", "vLLM #", f"[{finding.severity}, {finding.confidence}] {finding.message}")


def contradiction(finding: Finding, report: Report, answer: Mapping[str, Any]) -> str | None:
    """Why a certain finding cannot be true, None where nothing speaks against it."""
    if finding.confidence != "certain" or finding.part == "draft":
        return None
    if finding.consequence == "start_fails":
        return None if answer["error"] else "it starts"
    if finding.consequence != "not_fused":
        return None
    slots = {row["module"].removesuffix(".routed_experts"): row["slots"] for row in answer["built"]}
    about = [layer for layer in report.layers if layer.part == "target"]
    if finding.layers:
        about = [layer for layer in about if among(finding.layers, layer.index)]
    fused = [layer.index for layer in about if slots.get(layer.experts)]
    return f"layer {fused[0]} is fused" if fused else None


def look(folder: Path) -> Iterator[tuple[str, Target, Report, Mapping[str, Any]]]:
    """Every model of the corpus at every target that answers were recorded for."""
    for file in sorted((folder / "answers").glob("*.jsonl")):
        target = target_of(file)
        for line in file.read_text().splitlines() if target else ():
            recorded = json.loads(line)
            if target is not None and (folder / recorded["name"] / "config.json").exists():
                case = read_case(folder / recorded["name"], target)
                yield recorded["name"], target, check(case.model(), target), recorded


def main() -> int:
    """Run the command line. Its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get("FSE_CORPUS"))
    parser.add_argument("--show", action="append", default=[], metavar="RULE")
    arguments = parser.parse_args()
    if arguments.folder is None:
        parser.error("say where the corpus is: an argument, or FSE_CORPUS")
    seen = Seen()
    for name, target, report, recorded in look(Path(arguments.folder)):
        seen.take(name, target, report, recorded)
    for (rule, model), wordings in sorted(seen.said.items()):
        if rule in arguments.show:
            for words in sorted(wordings):
                print(f"{rule} {model}: {words}")
    for rule, tally in sorted(seen.tallies.items()):
        print(f"{rule}: {tally.findings} findings, {tally.certain} certain, {len(tally.models)} models")
    for words in seen.contradicted:
        print(words)
    print(f"{len(seen.contradicted)} contradicted / {sum(t.certain for t in seen.tallies.values())} certain findings")
    return 0 if seen.reports and not seen.contradicted else 1


if __name__ == "__main__":
    sys.exit(main())
