"""What can be asked about a model, and how each answer is made. Knows of nothing but the core, as `checking` does."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from fse_core.errors import OutOfTime
from fse_core.output.diff.json import diff_to_dict
from fse_core.output.matrix.json import matrix_to_dict
from fse_core.read.hub import HubFiles
from fse_core.read.model import Model
from fse_core.read.safetensors.collect import Mode
from fse_core.read.source import model_from_bytes, read_model
from fse_core.report import Source
from fse_core.sweep import sweep
from fse_core.target import Target
from fse_core.upgrade import upgrade
from service.checking import body_of, checked, put_aside


class Question(Protocol):
    """`quick`: its time is bounded by the core, else it is answered where it can be stopped."""

    quick: ClassVar[bool]

    @property
    def text(self) -> str:
        """The same for the same question alone."""
        ...

    def body(self, model: Model) -> bytes:
        """The answer as the service sends it. OutOfTime where it hangs on how busy the machine was."""
        ...


@dataclass(frozen=True, kw_only=True)
class Check:
    """What one release does: `fse.report/1`. `ignore` are the ids of rules whose findings are put aside."""

    target: Target
    ignore: tuple[str, ...] = ()
    quick: ClassVar[bool] = True

    @property
    def text(self) -> str:
        return " ".join((_key(self.target), *self.ignore))

    def body(self, model: Model) -> bytes:
        return body_of(put_aside(checked(model, self.target), self.ignore), model)


@dataclass(frozen=True, kw_only=True)
class Headed:
    """What one release does, by the headers of the files besides: `fse.report/1`."""

    target: Target
    mode: Mode
    ignore: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(("headers", self.mode, _key(self.target), *self.ignore))


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What many releases do on several GPUs: `fse.matrix/1`. The target's own release and GPU do not count."""

    target: Target
    versions: tuple[str, ...]
    gpus: tuple[str, ...]
    quick: ClassVar[bool] = False

    @property
    def text(self) -> str:
        return f"matrix {_key(self.target, vllm='', gfx='')} {' '.join(self.versions)} {' '.join(self.gpus)}"

    def body(self, model: Model) -> bytes:
        matrix = sweep(model, self.target, self.versions, self.gpus)
        if matrix.out_of_time:
            raise OutOfTime("one of the releases takes too long to answer for")
        return _json(matrix_to_dict(matrix))


@dataclass(frozen=True, kw_only=True)
class Upgrade:
    """What release `new` changes beside `old`: `fse.diff/1`. The target's own release does not count."""

    target: Target
    old: str
    new: str
    quick: ClassVar[bool] = False

    @property
    def text(self) -> str:
        return f"diff {_key(self.target, vllm='')} {self.old} {self.new}"

    def body(self, model: Model) -> bytes:
        diff = upgrade(model, self.target, self.old, self.new)
        if diff.out_of_time:
            raise OutOfTime("one of the releases takes too long to answer for")
        return _json(diff_to_dict(diff))


def of_files(files: HubFiles, question: Question) -> bytes:
    """The answer for what the Hub gave."""
    return question.body(model_of(files))


def of_folder(folder: Path, name: str, question: Question) -> bytes:
    """The answer for a shipped model, whose files are called what they are called in a repository."""
    model = read_model(str(folder))
    documents = tuple(replace(one, file=Path(one.file).name) for one in model.documents)
    return question.body(replace(model, documents=documents, source=Source(kind="inline", id=name)))


def model_of(files: HubFiles) -> Model:
    """The model that the Hub's files describe."""
    return model_from_bytes(files.config, hf_quant_config=files.hf_quant_config, source=files.source)


def _key(target: Target, **changed: str) -> str:
    return json.dumps({**target.as_dict(), **changed}, sort_keys=True, separators=(",", ":"))


def _json(value: Mapping[str, Any]) -> bytes:
    # ASCII alone: a name in the config may hold what UTF-8 cannot.
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode()
