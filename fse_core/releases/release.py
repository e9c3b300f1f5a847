"""The shape of a release's data file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fse_core.errors import InputError
from fse_core.target import Target


@dataclass(frozen=True, kw_only=True)
class Release:
    """One vLLM release, as its data file states it.

    fusing_gfx: the GPU architectures on which AITER is used at all.
    fnuz_gfx: those whose FP8 is the fnuz dialect, which shows in the words for a quantization key.
    choices: what an option of the target may be, by the target's field.
    methods: quantization method name to the class that reads it; `supported` are the names that ROCm takes, the
        keys of `methods` (in order) those that vLLM knows, `deprecated` those that it refuses by default.
    branches: the gate's questions, in the order in which they are asked.
    words: reason and error texts by their name; `{...}` are filled in.
    wired: the vLLM classes that take part in fusion.
    """

    version: str
    fusing_gfx: frozenset[str]
    fnuz_gfx: frozenset[str]
    choices: Mapping[str, tuple[str, ...]]
    methods: Mapping[str, str]
    supported: frozenset[str]
    deprecated: frozenset[str]
    branches: tuple[str, ...]
    words: Mapping[str, str]
    wired: frozenset[str]

    @classmethod
    def from_data(cls, version: str, data: Mapping[str, Any]) -> "Release":
        gpu, quantization = data["gpu"], data["quantization"]
        return cls(
            version=version,
            fusing_gfx=frozenset(gpu["fusing"]),
            fnuz_gfx=frozenset(gpu["fnuz"]),
            choices={option: tuple(names) for option, names in data["choices"].items()},
            methods=quantization["methods"],
            supported=frozenset(quantization["supported"]),
            deprecated=frozenset(quantization["deprecated"]),
            branches=tuple(data["gate"]["branches"]),
            words=data["words"],
            wired=frozenset(data["wired"]["classes"]),
        )

    def require(self, target: Target) -> None:
        """InputError where the target names a choice that the release does not have."""
        for option, names in self.choices.items():
            chosen = getattr(target, option)
            if chosen is not None and chosen not in names:
                flag = f"--{option.replace('_', '-')}"
                raise InputError(flag, f"expected one of {', '.join(names)}, got {chosen!r}")

    def say(self, name: str, **values: object) -> str:
        """The release's own words for `name`. Braces in the values are kept."""
        text = self.words[name]
        for key, value in values.items():
            text = text.replace("{" + key + "}", str(value))
        return text
