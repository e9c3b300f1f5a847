"""A question for the release and for us: a model's files and a target."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

from conformance.home import RELEASE
from conformance.seeds import changed, seed
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.report import Source
from fse_core.target import Target

_DEFAULT = Target(vllm=RELEASE)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question. `note` says what it is there for."""

    name: str
    config: Mapping[str, Any]
    hf_quant_config: Mapping[str, Any] | None = None
    target: Target = field(default=_DEFAULT)
    note: str = ""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Self:
        """The reverse of `as_dict`; unknown target options are an error.

        In place of `config` may stand `seed`, the name of one, with `changes` and `dropped` keys.
        """
        options: dict[str, Any] = {"vllm": RELEASE, **(raw.get("target") or {})}
        target = Target(**options)
        config = raw.get("config")
        if config is None:
            config = changed(seed(raw["seed"]), raw.get("changes") or {}, raw.get("dropped") or ())
        return cls(
            name=raw["name"],
            config=config,
            hf_quant_config=raw.get("hf_quant_config"),
            target=target,
            note=raw.get("note", ""),
        )

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it: only the target options that differ from the default."""
        whole: dict[str, Any] = {"name": self.name}
        if self.note:
            whole["note"] = self.note
        whole["config"] = dict(self.config)
        if self.hf_quant_config is not None:
            whole["hf_quant_config"] = dict(self.hf_quant_config)
        target = self.target_options()
        return whole | ({"target": target} if target else {})

    def target_options(self) -> dict[str, Any]:
        chosen = {f.name: getattr(self.target, f.name) for f in fields(Target)}
        differing = {name: value for name, value in chosen.items() if value != getattr(_DEFAULT, name)}
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in differing.items()}

    def at(self, release: str) -> Self:
        """The same question to another release."""
        return replace(self, target=replace(self.target, vllm=release))

    def model(self) -> Model:
        """The facts that our own check reads."""
        hf_quant_config = None if self.hf_quant_config is None else Fields(self.hf_quant_config)
        return Model(
            source=Source(kind="inline", id=self.name), config=Fields(self.config), hf_quant_config=hf_quant_config
        )


def read_cases(file: Path) -> Iterator[Case]:
    """The cases in a JSON file: one object, or a list of them."""
    content = json.loads(file.read_text())
    for raw in content if isinstance(content, list) else [content]:
        yield Case.from_dict(raw)
