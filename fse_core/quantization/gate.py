"""The quantization gate: may a layer's shared experts become slots of its routed ones?

Source: model_executor/layers/quantization/utils/config_utils.py:59 at 0.33.0. The release's data file names the
questions and their order; the first that applies answers. Releases before 0.29.0 have no gate and fuse whatever comes,
but for the questions that single classes ask themselves.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fse_core.errors import ReleaseRaises, Undecided
from fse_core.names import Rename
from fse_core.quantization import classes
from fse_core.quantization.base import YES, Answer, Quantization, Question
from fse_core.quantization.keys import MXFP4_STATIC
from fse_core.quantization.method import method_of
from fse_core.quantization.online import Overlay, parse_overlay
from fse_core.quantization.own_branches import OWN
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


@dataclass(frozen=True, kw_only=True)
class Gate:
    """The gate of one model: its checkpoint's quantization (None: unquantized) and the overlay on top of it."""

    quantization: Quantization | None = None
    overlay: Overlay | None = None
    class_name: str | None = None
    """What the release calls the class that reads the block."""

    @classmethod
    def of(cls, model: Model, target: Target, release: Release) -> "Gate":
        """Read block and overlay. ReleaseRaises where the release refuses either."""
        fnuz = target.gfx in release.fnuz_gfx
        overlay = None if target.overlay is None else parse_overlay(target.overlay, release, fnuz=fnuz)
        block = model.quantization
        method = None if block is None else method_of(block, model, release)
        if block is None or method is None:
            return cls()  # nothing to lay an overlay on: it has no effect
        name = release.methods[method]
        reader = classes().get(name)
        if reader is None:
            raise Undecided(f"what {name} of vLLM {release.version} makes of a checkpoint is not known")
        quantization = reader.parse(block.fields, model, release)
        if "targets" not in release.overlay["keys"]:
            overlay = None  # a checkpoint's own block wins (model_executor/model_loader/weight_utils.py:271 at 0.29.0)
        if overlay is not None:
            overlay.require_some()
        return cls(quantization=quantization, overlay=overlay, class_name=name)

    def renamed(self, rename: Rename) -> "Gate":
        """The overlay's patterns are not renamed: they name the release's own modules."""
        if self.quantization is None:
            return self
        return replace(self, quantization=self.quantization.renamed(rename))

    def on_linear(self, *, fnuz: bool) -> ReleaseRaises | None:
        """What the release raises as soon as it builds a linear module, before it comes to any MoE layer."""
        if self.quantization is None:
            return None
        raised = self.quantization.on_linear()
        return raised if raised is not None or self.overlay is None else self.overlay.on_linear(fnuz=fnuz)

    def ask(self, question: Question) -> Answer:
        """The answer for one layer. ReleaseRaises where the release raises instead of answering."""
        for branch, classes_ in question.release.own_branches.items():
            answer = OWN[branch](self.quantization, question) if question.model_class in classes_ else None
            if answer is not None:
                return answer
        if self.quantization is None or not question.release.branches:
            return YES
        for branch in question.release.branches:
            answer = BRANCHES.get(branch, _class_branch)(self, branch, question)
            if answer is not None:
                return answer
        return question.no("class_not_implemented", class_name=self.quantization.class_name)


def _online(gate: Gate, _branch: str, question: Question) -> Answer | None:
    """An overlay that reaches the shared expert decides alone."""
    assert gate.quantization is not None
    overlay = gate.overlay
    if overlay is None:
        return None
    targets = [overlay.linear_keys(name, question) for name in question.projections]
    if all(target is None for target in targets):
        return None
    routed = gate.quantization.routed_keys(question)
    if routed is None:
        return question.no("online_class", class_name=gate.quantization.class_name)
    weight, activation = routed
    if weight != MXFP4_STATIC:
        return question.no("online_routed_key", key=question.key_text(weight))
    for target in targets:
        if target is None:
            return question.no("online_part")
        if target[0] != weight or (question.backend != "aiter_mega_moe" and target[1] != activation):
            return question.no("online_keys_differ")
    return YES


def _mega_moe(gate: Gate, _branch: str, question: Question) -> Answer | None:
    return question.no("mega_moe") if question.backend == "aiter_mega_moe" else None


def _class_branch(gate: Gate, branch: str, question: Question) -> Answer | None:
    """The branch of one quantization class."""
    assert gate.quantization is not None
    return gate.quantization.gate(branch, question)


BRANCHES: Mapping[str, Callable[[Gate, str, Question], Answer | None]] = {
    "online": _online,
    "mega_moe": _mega_moe,
}
