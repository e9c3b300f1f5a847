"""Compares our answers with those recorded for a corpus of real configs, for every recorded release and target.

usage: python -m conformance.corpus [FOLDER]     (or the folder's name in FSE_CORPUS)
FOLDER holds a folder for each model, and answers/RELEASE-GFX-tpN[-ep|-mtp|-kvfp8].jsonl. Exit code 1 where any differs.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conformance.case import Case
from conformance.compare import Comparison, compare, summary
from fse_core.check import check
from fse_core.report import Report
from fse_core.target import Target

TARGET = re.compile(r"(?P<vllm>[\d.]+)-(?P<gfx>gfx\w+?)-tp(?P<tp>\d+)(?P<ep>-ep)?(?P<mtp>-mtp)?(-kvfp8)?")
Raw = Mapping[str, Any]


def target_of(file: Path) -> Target | None:
    """The target that an answers file's name states, None where the name states none."""
    match = TARGET.fullmatch(file.stem)
    if match is None:
        return None
    return Target(
        vllm=match["vllm"], gfx=match["gfx"], tp=int(match["tp"]), ep=bool(match["ep"]), draft=bool(match["mtp"])
    )


def read_case(folder: Path, target: Target) -> Case:
    """The model in `folder`, as a question."""
    extra = folder / "hf_quant_config.json"
    return Case(
        name=f"{folder.name} {target.gfx} tp{target.tp}{' ep' if target.ep else ''}{' mtp' if target.draft else ''}",
        config=json.loads((folder / "config.json").read_text()),
        hf_quant_config=json.loads(extra.read_text()) if extra.exists() else None,
        target=target,
    )


def expanded(recorded: Raw, report: Report) -> dict[str, Any]:
    """A recorded answer, which groups layers, in the form that the live release gives.

    Of modules outside the decisions it holds the number only. They are taken to be the layers of `report` where it is
    the same number, and are nobody's layers where it is not.
    """
    decisions = list(_decisions(recorded))
    built = []
    for part, key in (("target", "built"), ("draft", "built_mtp")):
        groups = recorded.get(key) or []
        slots = {group["fused_shared_slots"] for group in groups}
        names = [d["experts"] for d in decisions if d["part"] == part]
        if not decisions and len(slots) == 1:  # a release without a gate: only the number of its modules is recorded
            ours = [layer.experts for layer in report.layers if layer.part == part]
            number = sum(group["modules"] for group in groups)
            names = ours if len(ours) == number else [f"unknown.{position}" for position in range(number)]
        built += [{"part": part, "module": name, "slots": next(iter(slots))} for name in names if len(slots) == 1]
    error = recorded["error"]
    return {
        "decisions": decisions,
        "built": built,
        "separate": _separate(recorded, report),
        "warnings": None,
        "error": error and {"where": [], **error},
        "draft_error": None,
        "fused": {"target": recorded.get("fused"), "draft": recorded.get("built_mtp") and []},
    }


def _separate(recorded: Raw, report: Report) -> list[dict[str, str]]:
    ours = [(layer.shared, layer.experts) for layer in report.layers if layer.part == "target"]
    number = recorded.get("separate_shared_experts") or 0
    names = ours if len(ours) == number else [(f"unknown.{position}", "unknown") for position in range(number)]
    return [{"part": "target", "module": module, "experts": experts} for module, experts in names]


def _decisions(recorded: Raw) -> Iterator[dict[str, Any]]:
    """One entry a layer. The draft's come last: as many as it has experts, if it was built."""
    rows = [
        {key: _filled(group[key], layer) for key in ("experts", "shared", "compatible", "reason", "error")}
        for group in recorded.get("decisions", [])
        for layer in group["layers"]
    ]
    drafts = sum(group["modules"] for group in recorded.get("built_mtp") or [])
    target = len(rows) - drafts if rows else 0
    for number, row in enumerate(rows):
        yield row | {"part": "target" if number < target else "draft"}


def _filled(value: Any, layer: int) -> Any:
    return value.replace("{i}", str(layer)) if isinstance(value, str) else value


def compare_file(file: Path, folder: Path, target: Target) -> Iterator[Comparison]:
    """A comparison for each model that one file of answers is about."""
    for line in file.read_text().splitlines():
        recorded = json.loads(line)
        if (folder / recorded["name"] / "config.json").exists():
            case = read_case(folder / recorded["name"], target)
            report = check(case.model(), target)
            yield compare(case, report, expanded(recorded, report))


def main() -> int:
    """Run the command line. Its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get("FSE_CORPUS"))
    folder = parser.parse_args().folder
    if folder is None:
        parser.error("say where the corpus is: an argument, or FSE_CORPUS")
    folder, compared, agreed, decided = Path(folder), 0, 0, 0
    for file in sorted((folder / "answers").glob("*.jsonl")):
        target = target_of(file)
        if target is None:
            parser.error(f"{file}: its name states no target")
        results = list(compare_file(file, folder, target))
        for result in results:
            for text in summary(result.differences):
                print(text)
        compared += sum(result.compared for result in results)
        decided += sum(result.decided for result in results)
        agreed += sum(result.agreed for result in results)
    print(f"{agreed} agreed / {compared} compared; the release decided {decided} layers")
    return 0 if compared and agreed == compared else 1


if __name__ == "__main__":
    sys.exit(main())
