"""What a rule is, what it sees, and what it says."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from fse_core.families.base import Part
from fse_core.grouping import layer_words
from fse_core.names import Packed
from fse_core.quantization.base import Quantization, Question
from fse_core.quantization.gate import Gate
from fse_core.quantization.storage import Stored
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.report import Confidence, Consequence, Fix, Layer, PartName, Severity
from fse_core.target import Target

K = TypeVar("K", bound=Hashable)

_ANY_DIGIT = str.maketrans("123456789", "000000000")


@dataclass(frozen=True, kw_only=True)
class PartFacts:
    """One model instance: as its family gave it, the gate and packed modules in force, and what was decided."""

    part: Part
    gate: Gate
    packed: Packed
    layers: tuple[Layer, ...]

    @cached_property
    def numbered(self) -> bool:
        """Whether the quantization block may tell one layer from another."""
        return self.gate.quantization is not None and self.gate.quantization.numbered()

    def fused(self) -> tuple[Layer, ...]:
        """The layers whose shared experts become slots."""
        return tuple(layer for layer in self.layers if layer.decision.decision == "fused")


@dataclass(frozen=True, kw_only=True)
class Facts:
    """All that a rule sees. `target.vllm` is what was asked for, `release` the one that answers.

    `parts` are those whose layers were decided about; none where the model is undecided.
    """

    model: Model
    target: Target
    release: Release
    parts: tuple[PartFacts, ...] = ()
    _stored: dict[tuple[PartName, str], Stored | None] = field(default_factory=dict, init=False, repr=False)

    def question(self, part: PartFacts, layer: Layer) -> Question:
        """What the gate was asked about the layer."""
        return Question(
            model_class=part.part.model_class,
            experts=layer.experts,
            shared=layer.shared,
            packed=part.packed,
            model=self.model,
            release=self.release,
            gfx=self.target.gfx,
            backend=part.part.backend,
        )

    def stored(self, part: PartFacts, layer: Layer) -> Stored | None:
        """How the checkpoint says that it stores the layer; None where it cannot be told, or is changed on the way."""
        quantization = part.gate.quantization
        if quantization is None:
            return None
        place = layer.prefix
        if not (part.numbered or part.gate.overlay):  # all layers whose numbers are as long are alike
            place = str(layer.index).translate(_ANY_DIGIT)
        key = (layer.part, place)
        if key not in self._stored:
            self._stored[key] = self._read(quantization, part, layer)
        return self._stored[key]

    def _read(self, quantization: Quantization, part: PartFacts, layer: Layer) -> Stored | None:
        overlay = part.gate.overlay if "online" in self.release.branches else None
        question = self.question(part, layer)
        if overlay is not None and any(overlay.linear_keys(name, question) for name in question.projections):
            return None
        return quantization.stored(question)


@dataclass(frozen=True, kw_only=True)
class Hit:
    """What a rule says about layers of one part, or (without layers) about the whole.

    Its severity and confidence are the rule's own unless it states others.
    """

    message: str
    consequence: Consequence
    layers: tuple[Layer, ...] = ()
    severity: Severity | None = None
    confidence: Confidence | None = None
    evidence: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()

    @property
    def part(self) -> PartName | None:
        return self.layers[0].part if self.layers else None


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule's own data; its text is the docstring of its module.

    about_slots: what it says hangs on the slots being loaded at all, so that a known fault which surely breaks that
        makes it moot.
    """

    id: str
    name: str
    severity: Severity = "error"
    confidence: Confidence = "certain"
    about_slots: bool = False


Check = Callable[[Facts], Iterator[Hit]]


def by(layers: Iterable[Layer], key: Callable[[Layer], K]) -> dict[K, tuple[Layer, ...]]:
    """The layers by what is found for each, each group where its first layer stands."""
    groups: dict[K, list[Layer]] = {}
    for layer in layers:
        groups.setdefault(key(layer), []).append(layer)
    return {found: tuple(members) for found, members in groups.items()}


def where(layers: tuple[Layer, ...]) -> str:
    """`Layers 3-60 (58)`, to begin a sentence with."""
    words = layer_words(layers[0].part, [layer.index for layer in layers])
    return words[0].upper() + words[1:]
