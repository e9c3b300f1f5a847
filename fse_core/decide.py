"""What the release does with each layer of one model instance, in the order in which it builds them."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fse_core import request, stages
from fse_core.errors import OutOfTime, ReleaseRaises
from fse_core.families.base import MoeLayer, Part
from fse_core.names import Packed
from fse_core.quantization.base import Question
from fse_core.quantization.gate import Gate
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.report import Decision, Failure, Layer
from fse_core.target import Target

UNDECIDED = Decision(decision="undecided")
SEPARATE = Decision(decision="separate")
FUSED = Decision(decision="fused")
_MORI = ("mori", "mori_high_throughput", "mori_low_latency")


def failure_of(raised: ReleaseRaises) -> Failure:
    """What the release raises, as a report shows it."""
    return Failure(type=raised.type, message=raised.message)


@dataclass(frozen=True, kw_only=True)
class Build:
    """The release as it builds `model` for `target`.

    `checkpoint` is the gate before any class has renamed names in it, `gate` and `packed` are as they are by now.
    `until` is when to give up (time.monotonic).
    """

    model: Model
    target: Target
    release: Release
    checkpoint: Gate
    gate: Gate
    packed: Packed
    until: float

    def entering(self, part: Part) -> "Build":
        """The state when the part's layers are built: its class has renamed names and set its packed modules."""
        # A block of the draft's own is read from the file again, without the overlay.
        gates = {"inherited": self.gate, "own": replace(self.checkpoint, overlay=None), "none": Gate()}
        gate = gates[part.quantization]
        for rename in part.renames:
            gate = gate.renamed(rename)
        return replace(self, gate=gate, packed=self.packed if part.packed is None else part.packed)

    def part(self, part: Part) -> tuple[tuple[Layer, ...], Failure | None]:
        """Every layer of the part that has shared experts, and what aborts the start meanwhile."""
        layers, failure = self._built(part)
        hidden = [layer for layer, place in zip(layers, part.layers, strict=True) if place.empty]
        failure = failure or next((layer.decision.error for layer in hidden if layer.decision.error), None)
        return tuple(layer for layer in layers if layer not in hidden), failure

    def _built(self, part: Part) -> tuple[tuple[Layer, ...], Failure | None]:
        failure = part.startup or self._before_layers(part)
        if failure is not None:
            return self.not_reached(part.layers, part), failure
        if part.routed and not part.layers:
            return (), self._mori(part)
        layers: list[Layer] = []
        for moe_layer, decision, startup in self._decisions(part):
            layers.append(_layer(moe_layer, part, decision))
            if startup is not None or decision.error is not None:
                return (*layers, *self.not_reached(part.layers[len(layers) :], part)), startup
        last = self._linear_failure() if part.experts_first else None
        return tuple(layers), self._disagreement(part, layers) or last

    def _before_layers(self, part: Part) -> Failure | None:
        """What ends the start before any MoE layer is built."""
        try:
            self._stages(part)
        except ReleaseRaises as raised:
            return failure_of(raised)
        return None if part.experts_first else self._linear_failure()

    def _linear_failure(self) -> Failure | None:
        """What the first linear module of the model raises."""
        raised = self.gate.on_linear(fnuz=self.target.gfx in self.release.fnuz_gfx)
        return None if raised is None else failure_of(raised)

    def _decisions(self, part: Part) -> Iterator[tuple[MoeLayer, Decision, Failure | None]]:
        """Each layer's decision, with what the release raises right after it."""
        asks = part.asks and part.model_class in self.release.wired
        requested = asks and request.refusal(part.request, self.target, self.release) is None
        mori = self._mori(part)
        for layer in part.layers:
            if time.monotonic() > self.until:
                raise OutOfTime("its names and patterns take too long to match")
            question = Question(
                model_class=part.model_class,
                experts=layer.experts,
                shared=layer.shared,
                packed=self.packed,
                model=self.model,
                release=self.release,
                gfx=self.target.gfx,
                backend=part.backend,
            )
            decision = self._decide(part, question) if requested else SEPARATE
            separate = asks and decision.decision == "separate"
            yield layer, decision, part.on_layer or self._module_failure(question, separate) or mori

    def _module_failure(self, question: Question, separate: bool) -> Failure | None:
        """What the release raises as it builds the layer's modules: its own shared expert, the routed ones."""
        quantization = self.gate.quantization
        if quantization is None:
            return None
        raised = quantization.on_shared(question) if separate else None
        raised = raised or quantization.on_experts(question)
        return None if raised is None else failure_of(raised)

    def _decide(self, part: Part, question: Question) -> Decision:
        if part.always:
            return FUSED
        try:
            answer = self.gate.ask(question)
        except ReleaseRaises as raised:
            return Decision(decision="error", error=failure_of(raised))
        if not answer.ok:
            return Decision(decision="separate", reason=answer.reason)
        if part.declines:
            return Decision(decision="separate", reason="; ".join(part.declines))
        if part.on_fused is not None:
            return Decision(decision="error", error=part.on_fused)
        return FUSED

    def _mori(self, part: Part) -> Failure | None:
        """MoRI demands AITER's experts and refuses that fusion is even asked for, fused or not."""
        target = self.target
        spread = target.ep and (target.dp > 1 or target.pcp > 1)
        if "mori" not in self.release.words or not (part.gated and spread and target.all2all_backend in _MORI):
            return None
        if not request.aiter_moe(target, self.release):
            return Failure(type="AssertionError", message=self.release.say("mori_without_aiter"))
        if request.refusal("aiter", target, self.release) is None:
            return Failure(type="AssertionError", message=self.release.say("mori"))
        return None

    def _disagreement(self, part: Part, layers: list[Layer]) -> Failure | None:
        """Classes that demand one answer raise where layers of one pipeline stage differ (utils.py:133 at 0.33.0)."""
        if not part.one_answer or "layers_disagree" not in self.release.words:
            return None
        sizes = self._stages(part)
        fused_of: dict[int, list[bool]] = {}
        for layer in layers:
            its = fused_of.setdefault(stages.stage_of(layer.index, sizes), [])
            its.append(layer.decision.decision == "fused")
        for _, fused in sorted(fused_of.items()):
            if len(set(fused)) > 1:
                words = self.release.say("layers_disagree", enabled=sum(fused), disabled=len(fused) - sum(fused))
                return Failure(type="NotImplementedError", message=words)
        return None

    def _stages(self, part: Part) -> tuple[int, ...]:
        """The number of layers of each pipeline stage; a draft has one stage."""
        if part.part == "draft" or (self.target.pp == 1 and self.target.variable(stages.PARTITION) is None):
            return (1,)
        return stages.partition(self.model.text.integer("num_hidden_layers"), self.target)

    @staticmethod
    def not_reached(layers: tuple[MoeLayer, ...], part: Part) -> tuple[Layer, ...]:
        return tuple(_layer(layer, part, UNDECIDED) for layer in layers)


def _layer(layer: MoeLayer, part: Part, decision: Decision) -> Layer:
    return Layer(
        index=layer.index,
        part=part.part,
        prefix=layer.prefix,
        experts=layer.experts,
        shared=layer.shared,
        slots=layer.slots if decision.decision == "fused" else 0,
        mode=part.mode,
        decision=decision,
    )
