"""The shape of a release, as its data file and those that it inherits from state it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fse_core.errors import InputError
from fse_core.target import Target


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something known to go wrong in a release.

    text: what happens, in plain words; source: where that can be looked up.
    classes: the vLLM classes that it strikes, with layers that are `decision` ("any": whatever they are); without any
        it is only told.
    when: names of conditions (rules/known_fault.py) that must all hold.
    mended_by_quantizing: it does not strike shared experts that are quantized while they load.
    """

    text: str
    source: str
    classes: frozenset[str] = frozenset()
    decision: str = "fused"
    part: str | None = None
    when: tuple[str, ...] = ()
    consequence: str = "none"
    confidence: str = "likely"
    mended_by_quantizing: bool = False


@dataclass(frozen=True, kw_only=True)
class Release:
    """One vLLM release.

    inherits: the release that it changes, None for the first.
    changes: what is new in it that bears on fusion, a sentence each.
    environment: the defaults of the variables that bear on fusion.
    fusing_gfx: the GPU architectures on which AITER is used at all.
    fnuz_gfx: those whose FP8 is the fnuz dialect, which shows in the words for a quantization key.
    choices: what an option of the target may be, by the target's field.
    methods: quantization method name to the class that reads it; `supported` are the names that ROCm takes, the
        keys of `methods` (in order) those that vLLM knows, `deprecated` those that it refuses by default.
    modelopt_algorithms: what ModelOpt's classes take as quant_algo, in the order in which they say so.
    overlay: what --quantization-config may hold: its `keys`, and the `names` and `shorthands` for what to quantize to.
    branches: the gate's questions, in the order in which they are asked; none where there is no gate.
    own_branches: questions that single vLLM classes ask before the gate, by the question.
    words: reason and error texts by their name; `{...}` are filled in.
    wired: the vLLM classes that take part in fusion.
    architectures: the HF architectures that its registry knows, as far as we do.
    capabilities: ways of its own that no other field states; see capabilities.toml.
    functions: the functions on which the answers rest, as `file:name`, and what their text hashes to.
    """

    version: str
    inherits: str | None
    changes: tuple[str, ...]
    environment: Mapping[str, str]
    fusing_gfx: frozenset[str]
    fnuz_gfx: frozenset[str]
    choices: Mapping[str, tuple[str, ...]]
    methods: Mapping[str, str]
    supported: frozenset[str]
    deprecated: frozenset[str]
    modelopt_algorithms: tuple[str, ...]
    overlay: Mapping[str, tuple[str, ...]]
    branches: tuple[str, ...]
    own_branches: Mapping[str, frozenset[str]]
    words: Mapping[str, str]
    wired: frozenset[str]
    architectures: frozenset[str]
    capabilities: frozenset[str]
    faults: Mapping[str, Fault]
    functions: Mapping[str, str]

    @classmethod
    def from_data(cls, version: str, data: Mapping[str, Any]) -> "Release":
        """The release that `data` (with all that it inherits) states."""
        gpu, quantization, gate = data["gpu"], data["quantization"], data["gate"]
        return cls(
            version=version,
            inherits=data.get("inherits"),
            changes=tuple(data["changes"]),
            environment=data["environment"],
            fusing_gfx=frozenset(gpu["fusing"]),
            fnuz_gfx=frozenset(gpu["fnuz"]),
            choices={option: tuple(names) for option, names in data["choices"].items()},
            methods=quantization["methods"],
            supported=frozenset(quantization["supported"]),
            deprecated=frozenset(quantization["deprecated"]),
            modelopt_algorithms=tuple(quantization["modelopt_algorithms"]),
            overlay={kind: tuple(names) for kind, names in data["overlay"].items()},
            branches=tuple(gate["branches"]),
            own_branches={branch: frozenset(classes) for branch, classes in gate["own"].items()},
            words=data["words"],
            wired=frozenset(data["wired"]["classes"]),
            architectures=frozenset(data["architectures"]["names"]),
            capabilities=frozenset(data["capabilities"]["names"]),
            faults={name: _fault(fault) for name, fault in data["faults"].items()},
            functions=data["functions"],
        )

    def has(self, capability: str) -> bool:
        """Whether the release has a way of its own, by its name in capabilities.toml."""
        return capability in self.capabilities

    def require(self, target: Target) -> None:
        """InputError where the target names a choice that the release does not have."""
        for option, names in self.choices.items():
            chosen = getattr(target, option)
            if chosen is not None and chosen not in names and chosen != "auto":
                flag = f"--{option.replace('_', '-')}"
                has = f"expected one of {', '.join(names)}" if names else f"vLLM {self.version} has no such option"
                raise InputError(flag, f"{has}, got {chosen!r}")

    def say(self, name: str, **values: object) -> str:
        """The release's own words for `name`. Braces in the values are kept."""
        text = self.words[name]
        for key, value in values.items():
            text = text.replace("{" + key + "}", str(value))
        return text


def _fault(data: Mapping[str, Any]) -> Fault:
    fields = dict(data)
    fields["classes"] = frozenset(fields.get("classes", ()))
    fields["when"] = tuple(fields.get("when", ()))
    return Fault(**fields)
