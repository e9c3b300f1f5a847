"""What a quantization class answers: it reads its block, renames its names, and decides for one layer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

from fse_core.errors import ReleaseRaises
from fse_core.names import Packed, Rename
from fse_core.quantization import fields as field_sets
from fse_core.quantization.keys import QuantKey
from fse_core.quantization.storage import Stored
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release

PROJECTIONS = ("gate_up_proj", "down_proj")
"""The shared expert's modules that the gate asks about (config_utils.py:92 at 0.33.0)."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The gate's answer: whether the layer's shared experts may be fused, and if not, why."""

    ok: bool
    reason: str | None = None


YES = Answer(ok=True)


@dataclass(frozen=True, kw_only=True)
class Question:
    """What the gate is asked: may the shared experts at `shared` become slots of the routed ones at `experts`?

    `packed` are the packed modules in force; `backend` is the MoE backend where the model class names one.
    `model_class` is the vLLM class that asks.
    """

    model_class: str
    experts: str
    shared: str
    packed: Packed
    model: Model
    release: Release
    gfx: str
    backend: str | None = None

    @property
    def projections(self) -> tuple[str, ...]:
        """The names of the shared expert's modules."""
        return tuple(f"{self.shared}.{projection}" for projection in PROJECTIONS)

    def no(self, words: str, **values: object) -> Answer:
        """A refusal in the release's words."""
        return Answer(ok=False, reason=self.release.say(words, shared=self.shared, **values))

    @property
    def fnuz(self) -> bool:
        """Whether this GPU's FP8 is the fnuz dialect."""
        return self.gfx in self.release.fnuz_gfx

    def key_text(self, key: QuantKey | None) -> str:
        """How the release prints a quantization key on this GPU."""
        return "None" if key is None else key.text(fnuz=self.fnuz)


@dataclass(frozen=True, kw_only=True)
class Quantization:
    """A checkpoint's quantization block, as one vLLM class reads it.

    A subclass is one file of this folder; `class_name` is the vLLM class. `routed_keys` answers None where the release
    cannot tell the routed experts' keys for the online overlay.
    """

    class_name: ClassVar[str]
    former_names: ClassVar[tuple[str, ...]] = ()
    """What the class was called in older releases."""

    @classmethod
    def parse(cls, fields: Fields, model: Model, release: Release) -> Self:
        """Read the block. ReleaseRaises where vLLM refuses it, InputError where it cannot be read at all."""
        return cls()

    def renamed(self, rename: Rename) -> "Quantization":
        """The block after a model class has renamed the names in it."""
        return self

    def gate(self, branch: str, question: Question) -> Answer | None:
        """What the gate's branch for the vLLM class `branch` answers, None where that is not for this class."""
        return None

    def routed_keys(self, question: Question) -> tuple[QuantKey | None, QuantKey | None] | None:
        """The (weight, activation) keys of the routed experts."""
        return None

    def numbered(self) -> bool:
        """Whether a name or pattern of the block holds a digit, so that its layers may differ."""
        return True

    def stored(self, question: Question) -> Stored | None:
        """How the block says that routed and shared experts are stored; None where it cannot be told."""
        return None

    def fields(self, name: str, question: Question) -> field_sets.Fields | None:
        """The parameters that the release makes for the weights of module `name`: the routed experts as a whole, or one
        of the shared expert's own. None where that is not known. ReleaseRaises where the release raises.
        """
        return None

    def on_linear(self) -> ReleaseRaises | None:
        """What the release raises as soon as it builds a linear module, before it comes to any MoE layer."""
        return None

    def on_shared(self, question: Question) -> ReleaseRaises | None:
        """What the release raises when it builds the shared expert as a module of its own, after the gate said no."""
        return None

    def on_experts(self, question: Question) -> ReleaseRaises | None:
        """What the release raises when it builds the routed experts, after the gate has answered."""
        return None


def refuse(message: str, *, by: str = "VllmConfig") -> ReleaseRaises:
    """What vLLM raises where a ValueError leaves the set-up of its config: pydantic puts its own line before it.

    The tail that pydantic adds, which prints the values it was given, is left out.
    """
    return ReleaseRaises("ValidationError", f"1 validation error for {by}\n  Value error, {message}")


def demand(fields: Fields, *keys: str) -> object:
    """The value of the first of `keys` that is there (null counts). Source: base_config.py:185 at 0.33.0."""
    for key in keys:
        if key in fields:
            return fields.get(key)
    raise refuse(f"Cannot find any of {list(keys)} in the model's quantization config.")


def raised_by(look: Callable[[], object]) -> ReleaseRaises | None:
    """What the release raises when it looks something up, None where it does not."""
    try:
        look()
    except ReleaseRaises as raised:
        return raised
    return None
