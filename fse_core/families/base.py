"""What a model family says: which layers hold shared experts beside routed ones, and how its classes decide about them.

A family is one file that defines `FAMILY`. It sees the model's facts and the target; it knows no quantization class.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from fse_core.names import Packed, Rename
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.report import Failure, Mode, PartName
from fse_core.target import Target


@dataclass(frozen=True, kw_only=True)
class MoeLayer:
    """One decoder layer with routed and shared experts. `prefix` is the MoE module's name, `index` the number in it.

    `shared_name` is the shared expert's attribute below the prefix, `experts_name` the routed experts'.
    `slots` is the number of slots that fusion adds to the routed grouped GEMM. An `empty` layer has no shared experts
    (their number is 0), but its class decides about it all the same: it is not listed, and what it raises counts.
    """

    index: int
    prefix: str
    slots: int
    shared_name: str = "shared_experts"
    experts_name: str = "experts"
    empty: bool = False

    @property
    def experts(self) -> str:
        return f"{self.prefix}.{self.experts_name}"

    @property
    def shared(self) -> str:
        return f"{self.prefix}.{self.shared_name}"


@dataclass(frozen=True, kw_only=True)
class Part:
    """One model instance that the release builds: the target model, or a draft beside it.

    asks: the class asks the quantization gate for its layers at this target; where not, its layers are separate.
    request: which switch the class reads: "aiter" (platform, AITER and its MoE, and the fusion variable), or
        "environment" (the fusion variable alone), or "mega_moe" (a variable of AITER's MegaMoE alone).
    mode: how a fused layer of this part runs. A part whose `always` is set fuses without asking the gate.
    backend: the MoE backend that the class hands to the gate.
    declines: what the class logs when it declines after the gate said yes, in its own words.
    one_answer: the class demands one answer for all its layers (NotImplementedError where they differ).
    renames: how the class renames the quantization block's names, on top of what the parts before it did.
    packed: the packed modules in force when the gate is asked; None where the part before it leaves its own.
    quantization: the draft reuses the target's (already renamed) block, reads its own copy, or has none.
    startup: what the release raises before it decides any layer of this part.
    on_fused: what the release raises when it builds the first layer that the gate let fuse.
    on_layer: what the release raises as it builds the first layer, once it has decided about it.
    experts_first: the class builds every layer's experts before it builds any linear module.
    routed: without any layer that has both, the part still builds routed experts.
    gated: the routed experts have a gated activation (gate and up projections), as all but a few have.
    """

    model_class: str
    layers: tuple[MoeLayer, ...]
    part: PartName = "target"
    asks: bool = True
    always: bool = False
    request: Literal["aiter", "environment", "mega_moe"] = "aiter"
    mode: Mode = "aiter"
    backend: str | None = None
    declines: tuple[str, ...] = ()
    one_answer: bool = True
    renames: tuple[Rename, ...] = ()
    packed: Packed | None = field(default_factory=dict)
    quantization: Literal["inherited", "own", "none"] = "inherited"
    startup: Failure | None = None
    on_fused: Failure | None = None
    on_layer: Failure | None = None
    experts_first: bool = False
    routed: bool = False
    gated: bool = True


@dataclass(frozen=True, kw_only=True)
class Family:
    """A model family: `parts` answers for any of its `architectures` (HF names); drafts come after the target.

    `architectures` maps each HF architecture name to the vLLM class that builds it. Those of `unregistered` no release
    has a class of its own for: its Transformers backend takes them.
    """

    name: str
    architectures: Mapping[str, str]
    parts: Callable[[Model, Target, Release], tuple[Part, ...]]
    unregistered: frozenset[str] = frozenset()
