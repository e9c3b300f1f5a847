"""What the templates show of one report."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fse_core.output.words.summary import target_words
from fse_core.read.model import Model
from fse_core.report import Source
from fse_core.target import Target
from service.pages.explain import Explanation, error
from service.pages.findings import Told, told
from service.pages.launch import DRAFT_FLAG, command
from service.pages.layers import Layers, layers_of
from service.pages.memory import Slots, fused_slots
from service.pages.remedies import Place, Subject
from service.pages.verdict import Verdict, verdict_of


@dataclass(frozen=True, kw_only=True)
class View:
    """One report, ready to be shown. `stopped` explains what aborts the start, where something does."""

    report: Mapping[str, Any]
    source: Source
    verdict: Verdict
    layers: Layers
    target_words: str
    stopped: Explanation | None
    findings: tuple[Told, ...]
    ignored: tuple[Told, ...]
    slots: Slots | None
    slots_unknown: str
    command: str
    draft_flag: str | None

    @property
    def path(self) -> tuple[str, str]:
        """The parts of a Hub name."""
        org, _, name = self.source.id.rpartition("/")
        return org, name


def view_of(
    report: Mapping[str, Any],
    source: Source,
    target: Target,
    model: Model | None,
    place: Place | None = None,
    *,
    launched: bool = False,
) -> View:
    """The view of an `fse.report/1` object. `model` is its config, for sizes that the report does not hold; `place`
    the address of its page for another target. `launched`: what can be launched by its name.
    """
    subject = Subject(
        target=target, place=place, source=source if launched else None, config=None if model is None else _text(model)
    )
    layers = layers_of(report)
    starts = report["verdict"] != "fails"
    slots = fused_slots(layers, model, target) if starts else "vLLM does not start, so nothing is loaded."
    failure = report["startup_error"]
    drafted = any(layer["part"] == "draft" for layer in report["layers"])
    return View(
        report=report,
        source=source,
        verdict=verdict_of(report, layers),
        layers=layers,
        target_words=target_words(report["target"]),
        stopped=None if failure is None else error(failure["type"], failure["message"], report["target"]["vllm"]),
        findings=told(report["findings"], subject),
        ignored=told((one["finding"] for one in report["ignored"]), subject),
        slots=slots if isinstance(slots, Slots) else None,
        slots_unknown="" if isinstance(slots, Slots) else slots,
        command=command(source, report["target"]),
        draft_flag=DRAFT_FLAG if drafted else None,
    )


def _text(model: Model) -> str | None:
    """What config.json holds, as it was read."""
    return model.documents[0].data.decode("utf-8", "replace") if model.documents else None
