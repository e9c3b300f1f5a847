"""What a rule is, what it sees, and what it says."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from fse_core.errors import ReleaseRaises
from fse_core.families.base import Part
from fse_core.grouping import layer_words
from fse_core.loads import Built, Loading, loading, sizes, way
from fse_core.names import Packed
from fse_core.quantization.base import Quantization, Question
from fse_core.quantization.fields import PLAIN
from fse_core.quantization.gate import Gate
from fse_core.quantization.storage import Stored
from fse_core.read.model import Model
from fse_core.read.safetensors.kinds import stored_layers
from fse_core.read.safetensors.layer import LayerTensors
from fse_core.releases.release import Release
from fse_core.report import Confidence, Consequence, Failure, Fix, Layer, PartName, Severity
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

    `parts` are those whose layers were decided about; none where the model is undecided. `failure` is what aborts the
    start outside of any layer.
    """

    model: Model
    target: Target
    release: Release
    parts: tuple[PartFacts, ...] = ()
    failure: Failure | None = None
    _stored: dict[tuple[PartName, str], Stored | None] = field(default_factory=dict, init=False, repr=False)
    _loadings: dict[tuple[str, bool], Loading | None] = field(default_factory=dict, init=False, repr=False)

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

    @cached_property
    def tensors(self) -> Mapping[tuple[PartName, str], LayerTensors]:
        """What the headers say of each layer, by part and prefix; nothing where not all of them were read."""
        headers = self.model.headers
        if headers is None or not headers.complete:
            return {}
        return stored_layers(headers, [layer for part in self.parts for layer in part.layers])

    def loading(self, part: PartFacts, layer: Layer, *, apart: bool = False) -> Loading | None:
        """What loading the layer's experts comes to, as all headers tell; None where that is not known.

        `apart`: if the shared expert were a module of its own, whatever was decided.
        """
        key = (layer.prefix, apart)
        if part.part.part == "draft":
            return None
        if key not in self._loadings:
            self._loadings[key] = self._loading(part, layer, apart=apart)
        return self._loadings[key]

    def _loading(self, part: PartFacts, layer: Layer, *, apart: bool) -> Loading | None:
        tensors = self.tensors.get((layer.part, layer.prefix))
        own_way = way(part.part.model_class, self.release)
        count = next((one.slots for one in part.part.layers if one.prefix == layer.prefix), 0)
        numbers = sizes(self.model.text, count, self.target)
        if tensors is None or own_way is None or numbers is None or layer.mode != "aiter" or not part.part.gated:
            return None
        if layer.decision.decision not in ("fused", "separate"):
            return None
        fused = layer.decision.decision == "fused" and not apart
        try:
            built = self._built(part, layer, slots=count if fused else 0)
        except ReleaseRaises:  # told where the module is built
            return None
        if built is None or (apart and built.shared is None):
            return None
        return loading(tensors, built, numbers, own_way)

    def _built(self, part: PartFacts, layer: Layer, *, slots: int) -> Built | None:
        """What the release makes for the layer's experts, None where that is not known."""
        quantization, question = part.gate.quantization, self.question(part, layer)
        if quantization is None:
            return Built(routed=PLAIN, slots=slots, shared=(PLAIN, PLAIN))
        overlay = part.gate.overlay if "online" in self.release.branches else None
        if overlay is not None and overlay.moe is not None:
            return None
        online = overlay is not None and any(overlay.linear_keys(name, question) for name in question.projections)
        routed = quantization.fields(question.experts, question)
        if routed is None:
            return None
        shared = [quantization.fields(name, question) for name in question.projections] if not (slots or online) else []
        gate_up, down = shared or (None, None)
        own = None if gate_up is None or down is None else (gate_up, down)
        return Built(routed=routed, slots=slots, shared=own, online=online and slots > 0)

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
