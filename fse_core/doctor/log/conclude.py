"""What a log's words mean: whether the shared experts were fused, and whether that was predicted."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from fse_core import releases
from fse_core.doctor.log.tally import Entry, Tally
from fse_core.doctor.result import Fused, LogReport, Match, Said
from fse_core.report import Failure, Layer, Report

_LAYER: Final = re.compile(r"(?<=layers\.)\d+(?=\.|$)")
_WRAPPERS: Final = ("RuntimeError: Engine core initialization failed", "Exception: WorkerProc initialization failed")
"""What other processes raise since one has failed."""
_SHOWN: Final = 3


@dataclass(frozen=True, kw_only=True)
class _Verdict:
    fused: Fused
    why: str
    match: Match
    difference: str | None = None


def conclude(tally: Tally, report: Report | None, file: str, version: str) -> LogReport:
    """`report` is the prediction, None where there is none; `version` the release that it is for."""
    verdict = _verdict(tally, report, version)
    return LogReport(
        file=file,
        size=tally.size,
        version=tally.facts.get("version"),
        model=tally.facts.get("model"),
        stage=next((stage for stage in ("serves", "loaded", "built") if stage in tally.facts), "started"),
        said=tuple(_grouped(tally.entries.values())),
        more=tally.more,
        fused=verdict.fused,
        why=verdict.why,
        match=verdict.match,
        difference=verdict.difference,
    )


def _grouped(entries: Iterable[Entry]) -> Iterator[Said]:
    """Entries that differ in the number of the layer alone, as one."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.kind, _LAYER.sub("*", entry.text)), []).append(entry)
    for (kind, text), members in groups.items():
        numbers = {int(number) for entry in members for number in _LAYER.findall(entry.text)}
        processes = set[str]().union(*(entry.processes for entry in members))
        yield Said(
            kind=kind,
            text=text if len(members) > 1 else members[0].text,
            count=sum(entry.count for entry in members),
            layers=tuple(sorted(numbers)) if kind == "refused" else (),
            processes=tuple(sorted(processes - {""}, key=_natural)),
            at=min(entry.at for entry in members),
        )


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _verdict(tally: Tally, report: Report | None, version: str) -> _Verdict:
    entries = list(tally.entries.values())
    errors = [entry for entry in entries if entry.kind == "error"]
    refusals = [entry for entry in entries if entry.kind in ("refused", "declined")]
    if not tally.of_vllm:
        why = "this is no log of vLLM's: nothing that it prints while it starts is there"
        return _Verdict(fused="unknown", why=why, match="unknown")
    if len(servers := tally.servers()) > 1:
        return _mixed(servers)
    if errors and not tally.loaded:
        return _failed(errors, report)
    if tally.stated is not None:
        return _stated(*tally.stated, report)
    if refusals:
        return _refused(refusals, report, loaded=tally.loaded)
    return _silent(tally, report, version)


def _mixed(servers: list[list[int]]) -> _Verdict:
    """Nothing tells whose a word is."""
    places = ", ".join(str(places[0]) for places in servers[:_SHOWN])
    more = ", ..." if len(servers) > _SHOWN else ""
    why = (
        f"the log is of {len(servers)} unlike servers, which begin at bytes {places}{more}: read the part of one alone"
    )
    return _Verdict(fused="unknown", why=why, match="unknown")


def _failed(errors: list[Entry], report: Report | None) -> _Verdict:
    own = [entry for entry in errors if not entry.text.startswith(_WRAPPERS)] or errors
    why = f"the start ended with {own[0].text}"
    if report is None:
        return _Verdict(fused="failed", why=why, match="unknown")
    expected = [_first_line(failure) for failure in _failures(report)]
    if any(_alike(entry.text, text, cut=False) for entry in own for text in expected):
        return _Verdict(fused="failed", why=why, match="matches")
    if report.verdict == "breaks":
        what = "loading was predicted to go wrong"
        return _Verdict(fused="failed", why=f"{why}; {what}", match="not_contradicted")
    was = f"{expected[0]} was predicted" if expected else "no failure was predicted"
    return _Verdict(fused="failed", why=why, match="differs", difference=f"{was}, and {why}")


def _failures(report: Report) -> Iterator[Failure]:
    if report.startup_error is not None:
        yield report.startup_error
    yield from (layer.decision.error for layer in report.layers if layer.decision.error is not None)


def _first_line(failure: Failure) -> str:
    return f"{failure.type}: {failure.message}".rstrip().removesuffix(":").split("\n")[0]


def _stated(fused: int, count: int, report: Report | None) -> _Verdict:
    """By the plugin, which may do more than the release alone, where the prediction is of that."""
    became: Fused = "separate" if not fused else "fused" if fused == count else "partly"
    why = f"the plugin found {fused} of {count} MoE layers fused"
    if report is None:
        return _Verdict(fused=became, why=why, match="unknown")
    layers = [layer for layer in report.layers if layer.part == "target"]
    predicted = sum(layer.decision.decision == "fused" for layer in layers)
    staged = report.target["pp"] > 1  # each stage counts its own layers
    if predicted == fused or (staged and predicted * count == fused * len(layers)):
        return _Verdict(fused=became, why=why, match="matches")
    plugged = bool(report.target["plugin"])
    difference = f"{predicted} layers were predicted to fuse {'with' if plugged else 'without'} the plugin, and {why}"
    more = fused > predicted and not plugged
    return _Verdict(fused=became, why=why, match="not_contradicted" if more else "differs", difference=difference)


def _refused(refusals: list[Entry], report: Report | None, *, loaded: bool) -> _Verdict:
    total = sum(entry.count for entry in refusals)
    why = f"the release said {total} time{'' if total == 1 else 's'} that it does not fuse"
    if report is None:
        return _Verdict(fused="separate", why=why, match="unknown")
    expected = {reason: layer for layer in report.layers if (reason := layer.decision.reason) is not None}
    strange = [entry for entry in refusals if not any(_alike(entry.text, text, cut=entry.cut) for text in expected)]
    missing = [text for text in expected if not any(_alike(e.text, text, cut=e.cut) for e in refusals)]
    became: Fused = "separate"
    if _some_are_left(refusals, report):
        became = "unknown" if missing and not loaded else "partly"
    if became == "unknown":
        why = f"{why}, and ends before all layers are built"
    if not strange and not missing:
        return _Verdict(fused=became, why=why, match="matches")
    match: Match = "differs" if strange or loaded else "not_contradicted"  # else more may come
    return _Verdict(fused=became, why=why, match=match, difference=_difference(strange, missing, expected))


def _some_are_left(refusals: list[Entry], report: Report) -> bool:
    """Whether the words name layers, and not all of those that there are."""
    named = {int(number) for entry in refusals for number in _LAYER.findall(entry.text)}
    return bool(named) and not {layer.index for layer in report.layers if layer.part == "target"} <= named


def _difference(strange: list[Entry], missing: list[str], expected: dict[str, Layer]) -> str:
    parts = []
    if strange:
        words = "; ".join(dict.fromkeys(_LAYER.sub("*", entry.text) for entry in strange[:_SHOWN]))
        of = "no refusal was" if not expected else "another reason was"
        parts.append(f"the log refuses {len(strange)} by: {words}, where {of} predicted")
    if missing:
        numbers = ", ".join(str(expected[text].index) for text in missing[:_SHOWN])
        more = ", ..." if len(missing) > _SHOWN else ""
        parts.append(f"predicted, and not in the log, are the refusals of layers {numbers}{more}")
    return "; ".join(parts)


def _silent(tally: Tally, report: Report | None, version: str) -> _Verdict:
    """Nothing is refused. Only a release that says what it refuses says something so."""
    reached = tally.loaded or "built" in tally.facts
    if report is None or report.verdict == "undecided":
        why = "nothing is refused, and whether fusion was asked for is not in the log"
        return _Verdict(fused="unknown", why=why, match="unknown")
    if not reached:
        return _Verdict(fused="unknown", why="the log ends before an expert layer is built", match="unknown")
    if report.verdict == "fails" or (report.verdict == "breaks" and tally.loaded and _must_fail(report)):
        what = "it was predicted not to start, and the log shows that it was built"
        return _Verdict(fused="unknown", why="nothing is refused", match="differs", difference=what)
    predicted = {layer.decision.reason for layer in report.layers} - {None}
    if predicted and releases.load(version).branches and report.requested:
        what = f"the log refuses nothing, where this was predicted: {sorted(filter(None, predicted))[0]}"
        return _Verdict(fused="unknown", why="nothing is refused", match="differs", difference=what)
    return _unsaid(report, version)


def _must_fail(report: Report) -> bool:
    return any(f.confidence == "certain" and f.consequence == "load_fails" for f in report.findings)


def _unsaid(report: Report, version: str) -> _Verdict:
    """What the log does not say is as predicted, as far as can be told."""
    fuses = report.verdict in ("fuses", "breaks")
    if fuses and releases.load(version).branches:
        why = f"vLLM {version} would say of each layer that it does not fuse it, and says it of none"
        return _Verdict(fused="fused", why=f"{why} (the log cannot show that the variables are set)", match="matches")
    if fuses:
        why = f"vLLM {version} says nothing of what it fuses; fusing is what was predicted"
        return _Verdict(fused="unknown", why=why, match="not_contradicted")
    why = "separate is what was predicted, with no word of the release's"
    return _Verdict(fused="separate", why=why, match="not_contradicted")


def _alike(said: str, expected: str, *, cut: bool) -> bool:
    """Whether the words are the expected ones, as far as they are there."""
    said, expected = said.strip(), expected.strip()
    return said == expected or (cut and expected.startswith(said))
