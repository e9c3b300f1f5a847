"""Makes the plan for one model instance, from what fse knows of the release and of the checkpoint."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fse_core import rules, slots
from fse_core.errors import InputError
from fse_core.plugged import formats, stored
from fse_core.plugged.formats import Wish
from fse_core.plugged.options import Options
from fse_core.plugged.plan import Plan
from fse_core.quantization.reading import leaves
from fse_core.quantization.storage import MXFP4, PLAIN
from fse_core.report import BREAKING, Decision, Finding, Layer, Report
from fse_core.rules import known_fault
from fse_core.rules.base import Facts, PartFacts, Rule

NATIVE_MXFP4 = ("gfx950", "gfx1250")
"""Where AITER has kernels for MXFP4; elsewhere it is emulated."""


def planned(
    report: Report, facts: Facts, part: PartFacts, options: Options, *, can_quantize: bool = True
) -> Plan | None:
    """The plan for one part of what was examined, None where the plugin leaves it alone: fusion is not asked for.

    can_quantize: whether the release's loader of expert weights is one that the plugin knows.
    """
    return Judge(report, facts, part, options, can_quantize=can_quantize).plan() if report.requested else None


class Judge:
    """What is weighed for one model instance."""

    def __init__(
        self,
        report: Report,
        facts: Facts,
        part: PartFacts,
        options: Options,
        *,
        can_quantize: bool,
    ) -> None:
        self.report, self.facts, self.part = report, facts, part
        self.target, self.options, self.can_quantize = facts.target, options, can_quantize
        self.notes: list[str] = []
        counts = {layer.prefix: layer.slots for layer in part.part.layers}
        fused = Decision(decision="fused")
        self.fused = tuple(replace(one, decision=fused, slots=counts[one.prefix]) for one in part.layers)
        self.stored = stored.layers(facts.model, self.fused)

    def plan(self) -> Plan:
        """The plan, with what was asked for and is not done."""
        return replace(self._plan(), notes=tuple(self.notes))

    def _plan(self) -> Plan:
        """Refuse, quantize while loading, accept, or leave to the release, in this order of questions."""
        blank = Plan(experts={layer.shared: layer.experts for layer in self.part.layers})
        wired = self.part.part.model_class in self.facts.release.wired
        refusal = next(self._whatever_is_stored(), None)
        if refusal is not None:
            return self._refused(blank, refusal)
        wish = formats.wished(self.facts, self.part, self.fused, self.options, self.stored)
        if wired and wish is not None:
            obstacle = next(self._against_quantizing(wish), None)
            if obstacle is None:
                return replace(blank, online=wish.format, asked=wish.asked, packed=wish.packed, lossy=wish.lossy)
            self.notes.append(f"shared experts are not quantized while loading: {obstacle}")
        refusal = next(self._against_stock(), None)
        if refusal is not None:
            return self._refused(blank, refusal)
        if not wired:
            words = f"vLLM {self.target.vllm} does not fuse {self.part.part.model_class}"
            return replace(blank, reasons=[words])
        accepted = self._accepted()
        separate = accepted is None and all(layer.decision.decision == "separate" for layer in self.part.layers)
        reasons = [layer.decision.reason for layer in self.part.layers if layer.decision.reason]
        return replace(blank, accepted=accepted, reasons=reasons[:1], left_out=self._left_out() if separate else ())

    def _refused(self, blank: Plan, why: str) -> Plan:
        if self.part.part.always:
            self.notes.append(f"the class fuses without asking, from which the plugin cannot keep it: {why}")
            return blank
        return replace(blank, refused=why, left_out=self._left_out())

    def _left_out(self) -> tuple[str, ...]:
        """A shared expert that is not fused becomes modules of its own, which must be built as it is stored."""
        plain = (layer for layer in self.part.layers if self._is_plain_unheard(layer))
        return tuple(name for layer in plain for name in leaves(layer.shared, self.part.packed))

    def _is_plain_unheard(self, layer: Layer) -> bool:
        """Whether the shared expert is stored in full precision and the release does not hear it.

        By its own headers, by those of the layers that were looked at where these are others, else by what the config
        means.
        """
        meant = self.facts.stored(self.part, layer)
        said = meant is not None and meant.shared == PLAIN
        if said and meant is not None and meant.heard:
            return False
        seen = tuple(one for one in self.stored if one[0].prefix == layer.prefix) or self.stored
        return stored.full_precision(seen) if seen else said and meant is not None and meant.sure

    def _whatever_is_stored(self) -> Iterator[str]:
        target = self.target
        if target.eplb:
            yield "EPLB moves experts by numbers that are the fused slots' too (enable_eplb)"
        if not self._gated and target.moe_backend == "triton":
            yield f"the Triton experts of vLLM {target.vllm} drop what is sent to a fused slot"
        if not self._gated and self._emulated:
            yield f"MXFP4 is emulated on {target.gfx}, which in vLLM {target.vllm} drops what is sent to a fused slot"

    def _against_quantizing(self, wish: Wish) -> Iterator[str]:
        target = self.target
        if not self.can_quantize:
            yield "the expert weight loader of this vLLM is not one that is known"
        if wish.format == "mxfp4" and target.gfx not in NATIVE_MXFP4 and not wish.native:
            yield f"MXFP4 is emulated on {target.gfx}, where fused slots are not known to be counted"
        yield from self._breaking(self._as_fused(stored_too=False), quantized=True)
        yield from stored.objections(self.stored, online=True, lossy=wish.lossy)
        yield from _uneven(self, wish.format)

    def _against_stock(self) -> Iterator[str]:
        """What the release would do with these layers, fused or not, and what goes wrong with it."""
        yield from self._breaking(self.report.findings)
        if any(layer.decision.decision == "fused" and layer.mode == "aiter" for layer in self.part.layers):
            yield from stored.objections(self.stored, online=self._natively_online)

    def _accepted(self) -> str | None:
        if not self._gated or any(layer.decision.decision == "fused" for layer in self.part.layers):
            return None
        kind = formats.alike(self.facts, self.part, self.fused)
        if kind not in self.options.accept:
            return None
        obstacle = next(self._breaking(self._as_fused()), None) or next(
            stored.objections(self.stored, online=False), None
        )
        if obstacle is not None:
            self.notes.append(f"{kind} is not accepted: {obstacle}")
            return None
        return kind

    def _as_fused(self, *, stored_too: bool = True) -> Sequence[Finding]:
        """What the rules would say, were the layers fused; `stored_too`: of what is in the files, beside the config."""
        part = replace(self.part, layers=self.fused)
        model = self.facts.model if stored_too else replace(self.facts.model, headers=None)
        return rules.findings(replace(self.facts, model=model, parts=(part,)), self.fused).findings

    def _breaking(self, findings: Sequence[Finding], *, quantized: bool = False) -> Iterator[str]:
        for finding in findings:
            if finding.part != self.part.part.part or not _refusable(finding):
                continue
            if quantized and self._mended(finding):
                continue
            unsure = finding.confidence == "likely" and finding.consequence == "load_fails"
            if unsure and finding.rule == "FSE114" and self.stored:
                continue  # whether a scale has a dimension the headers tell, which are asked
            yield f"{finding.message} [{finding.rule}]"

    def _mended(self, finding: Finding) -> bool:
        """Whether it is no trouble once the shared experts are quantized."""
        fault = known_fault.fault_of(self.facts, finding.rule, finding.evidence)
        return _rules()[finding.rule].mended_by_quantizing or (fault is not None and fault.mended_by_quantizing)

    @property
    def _gated(self) -> bool:
        return bool(self.facts.release.branches)

    @property
    def _emulated(self) -> bool:
        """Whether the routed experts are MXFP4 on a GPU without kernels for it."""
        meant = self.facts.stored(self.part, self.part.layers[0])
        return meant is not None and meant.routed == MXFP4 and self.target.gfx not in NATIVE_MXFP4

    @property
    def _natively_online(self) -> bool:
        """Whether the release itself quantizes the shared experts while it loads them."""
        return "online" in self.facts.release.branches and self.target.overlay is not None


def _refusable(finding: Finding) -> bool:
    """Whether fusion may be refused for it: it breaks loading or the model, for sure, and by the slots."""
    rule = _rules()[finding.rule]
    sure = finding.confidence == "certain" or rule.counts_unsure
    return sure and finding.consequence in BREAKING and (rule.about_slots or rule.ends_with_fusion)


@functools.cache
def _rules() -> Mapping[str, Rule]:
    return {known.rule.id: known.rule for known in rules.known()}


def _uneven(judge: Judge, format: str) -> Iterator[str]:
    """Why a slot cannot be cut over the ranks in this format."""
    text, target = judge.facts.model.text, judge.target
    wide = text.optional_integer("moe_intermediate_size")
    width = text.integer("intermediate_size") if wide is None else wide
    ranks = 1 if target.ep else target.tp * target.dp * target.pcp
    try:
        geometry = slots.Geometry(hidden=text.integer("hidden_size"), intermediate=width, routed=0, tp=ranks)
        slots.check_layout(geometry, slots.layout(format))
    except InputError as error:
        yield str(error)
