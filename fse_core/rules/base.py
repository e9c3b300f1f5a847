"""What a rule is, what it sees, and what it says."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from fse_core.errors import ReleaseRaises
from fse_core.families.base import Part
from fse_core.grouping import layer_words
from fse_core.loads.sizes import sizes
from fse_core.loads.ways import way
from fse_core.names import Packed
from fse_core.quantization.base import Quantization, Question
from fse_core.quantization.fields import PLAIN
from fse_core.quantization.gate import Gate
from fse_core.quantization.storage import Stored
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.report import Confidence, Consequence, Failure, Fix, Layer, PartName, Severity
from fse_core.target import Target

if TYPE_CHECKING:  # which only a check with headers needs
    from fse_core.loads.layer import Built, Loading
    from fse_core.read.safetensors.facts import Headers
    from fse_core.read.safetensors.kinds import Place, Shown

K = TypeVar("K", bound=Hashable)


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

    @cached_property
    def slots(self) -> Mapping[str, int]:
        """How many slots the shared experts of a layer would take, by its prefix."""
        return {layer.prefix: layer.slots for layer in self.part.layers}

    @cached_property
    def _fused(self) -> tuple[Layer, ...]:
        fused = tuple(layer for layer in self.layers if layer.decision.decision == "fused")
        return self.layers if len(fused) == len(self.layers) else fused

    def fused(self) -> tuple[Layer, ...]:
        """The layers whose shared experts become slots."""
        return self._fused


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
    _told: dict[tuple[PartName, str], Stored | None] = field(default_factory=dict, init=False, repr=False)
    _kinds: dict[int, tuple[tuple[Layer, ...], dict[int, tuple[Layer, ...]]]] = field(
        default_factory=dict, init=False, repr=False
    )
    _loadings: "dict[tuple[PartName, str, bool], Loading | None]" = field(default_factory=dict, init=False, repr=False)

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
        own = (layer.part, layer.prefix)
        if own not in self._told:
            self._told[own] = self._alike(part, layer)
        return self._told[own]

    def untold(self, part: PartFacts, layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
        """The layers that the headers say nothing of: there the config is all that is known."""
        if self.model.headers is None:
            return layers
        return tuple(layer for layer in layers if self.loading(part, layer) is None)

    def by_stored(
        self, part: PartFacts, layers: tuple[Layer, ...], key: Callable[[Stored | None], K]
    ) -> dict[K, tuple[Layer, ...]]:
        """As `by`, of what `stored` says of a layer; `key` is asked once where it says the same of several."""
        if id(layers) not in self._kinds:  # which holds on to them, so that no others get their identity
            self._kinds[id(layers)] = layers, by(layers, lambda layer: id(self.stored(part, layer)))
        kinds = self._kinds[id(layers)][1]
        found: dict[K, list[tuple[Layer, ...]]] = {}
        for members in kinds.values():
            found.setdefault(key(self.stored(part, members[0])), []).append(members)
        return {one: groups[0] if len(groups) == 1 else _in_order(groups) for one, groups in found.items()}

    def _alike(self, part: PartFacts, layer: Layer) -> Stored | None:
        quantization = part.gate.quantization
        if quantization is None:
            return None
        place = layer.prefix
        if not (part.numbered or part.gate.overlay):  # all layers whose numbers are as long are alike
            place = "0" * len(str(layer.index))
        key = (layer.part, place)
        if key not in self._stored:
            self._stored[key] = self._read(quantization, part, layer)
        return self._stored[key]

    @cached_property
    def shown(self) -> "Mapping[Place, Shown]":
        """What the headers say of each layer, by part and prefix."""
        headers = self.model.headers
        if headers is None:
            return {}
        from fse_core.read.safetensors.kinds import shown_layers

        return shown_layers(headers, [layer for part in self.parts for layer in part.layers])

    def loading(self, part: PartFacts, layer: Layer, *, apart: bool = False) -> "Loading | None":
        """What loading the layer's experts comes to, as the headers tell; None where that is not known.

        `apart`: if the shared expert were a module of its own, whatever was decided.
        """
        key = (layer.part, layer.prefix, apart)
        headers = self.model.headers
        if headers is None:
            return None
        if key not in self._loadings:
            self._loadings[key] = self._loading(headers, part, layer, apart=apart)
        return self._loadings[key]

    def _loading(self, headers: "Headers", part: PartFacts, layer: Layer, *, apart: bool) -> "Loading | None":
        from fse_core.loads.absent import absent
        from fse_core.loads.layer import loading

        own_way = way(part.part.model_class, self.release)
        count = part.slots.get(layer.prefix, 0)
        numbers = sizes(self.model.text, count, self.target)
        if own_way is None or numbers is None or layer.mode != "aiter" or not part.part.gated:
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
        heads = own_way.heads(layer.index)
        if heads and _nothing_below(heads, headers):
            tracked = self.model.quantization is None
            return absent(built, numbers, own_way, tracked=tracked, complete=headers.complete)
        shown = self.shown.get((layer.part, layer.prefix))
        if shown is None or (heads and shown.own and shown.tensors.head not in heads):
            return None
        return loading(shown.tensors, built, numbers, own_way, complete=headers.complete, anchored=headers.anchored)

    def _built(self, part: PartFacts, layer: Layer, *, slots: int) -> "Built | None":
        """What the release makes for the layer's experts, None where that is not known."""
        from fse_core.loads.layer import Built

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

    Its severity and confidence are the rule's own unless it states others. moots: what is said about the slots of its
    layers is moot by it, if it surely breaks them and is not about slots itself.
    """

    message: str
    consequence: Consequence
    layers: tuple[Layer, ...] = ()
    severity: Severity | None = None
    confidence: Confidence | None = None
    evidence: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    moots: bool = True

    @property
    def part(self) -> PartName | None:
        return self.layers[0].part if self.layers else None


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule's own data; its text is the docstring of its module.

    about_slots: what it says hangs on the slots being loaded at all, so that a known fault which surely breaks that
        makes it moot.
    ends_with_fusion: it says nothing of a model whose fusion is off.
    counts_unsure: what breaks a model by it is not to be risked, though it may be only likely.
    mended_by_quantizing: it is no trouble for shared experts that are quantized while they load.
    about_gain: whether it tells what fusion is good for, which is moot where an error is told of the same layers.
    """

    id: str
    name: str
    severity: Severity = "error"
    confidence: Confidence = "certain"
    about_slots: bool = False
    ends_with_fusion: bool = False
    counts_unsure: bool = False
    mended_by_quantizing: bool = False
    about_gain: bool = False


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


def _nothing_below(heads: tuple[str, ...], headers: "Headers") -> bool:
    """Whether no tensor's name begins so: none of those in the headers if all were read, else none of the index."""
    names = headers.tensors if headers.complete else headers.listed
    starts = tuple(f"{head}." for head in heads)
    return names is not None and not any(name.startswith(starts) for name in names)


def _in_order(groups: Iterable[tuple[Layer, ...]]) -> tuple[Layer, ...]:
    return tuple(sorted((layer for members in groups for layer in members), key=lambda layer: layer.index))
