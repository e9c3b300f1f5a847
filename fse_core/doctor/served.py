"""What a command line serves: its options as the release reads them, and the target that they make."""

import json
import re
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fse_core import releases
from fse_core.doctor import flags, reprs, words, yaml
from fse_core.doctor.command import Command
from fse_core.doctor.result import Launch, Option, Problem
from fse_core.errors import InputError
from fse_core.read.values import checked
from fse_core.target import Target

_SIZES: Final = {
    "tensor_parallel_size": "tp",
    "pipeline_parallel_size": "pp",
    "data_parallel_size": "dp",
    "prefill_context_parallel_size": "pcp",
}
_MOST: Final = 65536
"""So many GPUs a way to be parallel may have, as for fse check."""
_LONGEST: Final = 40
_LEVELS: Final = ("0", "1", "2", "3")
_SWITCHES: Final = {"enable_expert_parallel": "ep", "enable_eplb": "eplb", "enable_dbo": "dbo"}
_OBJECTS: Final = ("quantization_config", "speculative_config", "kernel_config", "compilation_config", "hf_overrides")
_BEARS: Final = frozenset((*_SIZES, *_SWITCHES, *_OBJECTS, "moe_backend", "all2all_backend", "quantization", "model"))
_ALSO: Final = frozenset(("model_tag", "revision", "hf_config_path", "model_impl", "spec_method", "cpu_offload_gb"))
_DEFAULT_MODEL: Final = "Qwen/Qwen3-0.6B"
_UNSET: Final = re.compile(r"\$[A-Za-z_{(@*#?!0-9]|`")
"""What a shell would have replaced, where what it knows is not known here."""
_LARGEST_FILE: Final = 1 << 20
_FREE: Final = ("ngram", "[ngram]", "ngram_gpu", "suffix", "medusa", "mlp_speculator")
"""Ways to speculate that build no model with experts."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """The launch as it is shown, the target, and what is to be done to the model's config before it is judged.

    unjudged: why nothing can be said of the model, where an option leads where this version of fse does not follow.
    """

    launch: Launch
    target: Target
    overrides: Mapping[str, Any] = field(default_factory=dict)
    quantization: str | None = None
    revision: str | None = None
    config_path: str | None = None
    unjudged: str | None = None


def served(command: Command, target: Target, load: Callable[[str], str] | None = None) -> Served:
    """The command on the target's release, GPU and environment. Never raises for what the command line holds.

    load: gives the text of a --config file.
    """
    problems = list(command.problems)
    try:
        given, unknown = _parse(command, target.vllm, load or _read)
    except InputError as error:
        problems.append(Problem(severity="error", message=str(error)))
        return Served(launch=Launch(model=None, problems=tuple(problems)), target=target)
    unset = [word for word in unknown if _UNSET.search(word)]
    if unknown and not unset:
        words = " ".join(unknown)
        what = f"vLLM {releases.resolve(target.vllm)} ends with: unrecognized arguments: {words}"
        problems.append(Problem(severity="error", message=what))
    if any(word.startswith("--config=") for word in command.arguments):
        what = "--config=FILE is read by no release, and ignored: write --config FILE"
        problems.append(Problem(severity="warning", message=what))
    return _Reading(_known(vars(given), unset), target, problems, positional=command.serve, unset=unset).served()


def _known(given: Mapping[str, Any], unset: list[str]) -> dict[str, Any]:
    """The options that bear on fusion, but for those whose value only the shell knows, which `unset` then names."""
    known = {}
    for name, value in given.items():
        bears = name in _BEARS | _ALSO and name not in ("model", "model_tag")
        if bears and isinstance(value, str) and _UNSET.search(value):
            unset.append(f"--{name.replace('_', '-')} {value}")
        else:
            known[name] = value
    return known


def logged(text: str, target: Target) -> Served | None:
    """What a log's `non-default args` say was served, None where they are cut off or name no model.

    Source: vllm/entrypoints/common/startup.py:94 at 0.33.0.
    """
    values = reprs.read(text)
    if values is None or not (values.get("model") or values.get("model_tag")):
        return None
    return _Reading(values, target, [], positional=True).served()


def _parse(command: Command, version: str, load: Callable[[str], str]) -> tuple[Namespace, list[str]]:
    parser = flags.parser(version)

    def words_of(file: str) -> Sequence[str]:
        if not file.endswith((".yaml", ".yml")):
            raise InputError("--config", f"has to end with .yaml or .yml, got {file}")
        return list(_as_words(yaml.read(load(file), file), parser._option_string_actions))

    found = words.prepared(command.arguments, words_of, serve=command.serve, version=version)
    given, unknown = parser.parse_known_args(found)
    return given, unknown


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_LARGEST_FILE)
    except (OSError, ValueError) as error:
        raise InputError("--config", f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def _as_words(options: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    """A --config file's options as words. Source: vllm/utils/argparse_utils.py:640 at 0.33.0."""
    for name, value in options.items():
        if value is True:
            yield f"--{name}"
        elif value is False:
            yield from (f"--no-{name}",) if f"--no-{name}" in known else ()
        elif isinstance(value, list):
            yield from (f"--{name}", *map(str, value)) if value else ()
        else:
            yield from (f"--{name}", json.dumps(value) if isinstance(value, dict) else str(value))


class _Reading:
    """Goes through the options once; what is wrong with them is added to `problems`."""

    def __init__(
        self,
        given: Mapping[str, Any],
        target: Target,
        problems: list[Problem],
        *,
        positional: bool,
        unset: Sequence[str] = (),
    ) -> None:
        self.given = {
            name: value for name, value in given.items() if _is_given(value) or (name in _SIZES and value is not None)
        }
        self.positional = positional
        self.target = target
        self.problems = problems
        self.unjudged = f"what the shell makes of {' '.join(unset)} is not known here" if unset else None

    def served(self) -> Served:
        """All of it."""
        model = self.given.get("model_tag") if self.positional else None
        model = model or self.given.get("model") or _DEFAULT_MODEL
        objects = {name: self._object(name) for name in _OBJECTS}
        overrides = objects["hf_overrides"] or {}
        texts = {name: self._text(name) for name in ("quantization", "revision", "hf_config_path")}
        target = self._target(objects)
        self._also()
        return Served(
            launch=Launch(model=str(model), options=tuple(self._options(objects)), problems=tuple(self.problems)),
            target=target,
            overrides=overrides,
            quantization=texts["quantization"],
            revision=texts["revision"],
            config_path=texts["hf_config_path"],
            unjudged=self.unjudged,
        )

    def _target(self, objects: Mapping[str, Mapping[str, Any] | None]) -> Target:
        fields: dict[str, Any] = {key: self._size(name) for name, key in _SIZES.items() if name in self.given}
        fields |= {key: bool(self.given[name]) for name, key in _SWITCHES.items() if name in self.given}
        backend = self.given.get("moe_backend") or (objects["kernel_config"] or {}).get("moe_backend")
        if backend is not None:
            fields["moe_backend"] = str(backend).lower().replace("-", "_")
        all2all = self._text("all2all_backend")
        if all2all is not None:
            fields["all2all_backend"] = all2all
        fields["overlay"] = objects["quantization_config"]
        fields["draft"] = self._draft(objects["speculative_config"])
        made = Target(**{**_of(self.target), **fields})
        try:
            releases.load(made.vllm).require(made)
        except InputError as error:
            self._problem("error", str(error))
            return Target(**{**_of(made), "moe_backend": "auto", "all2all_backend": None})
        return made

    def _draft(self, config: Mapping[str, Any] | None) -> bool:
        method = str((config or {}).get("method") or self.given.get("spec_method") or "")
        if config is None and not method:
            return False
        if method in _FREE:
            return False
        if method.endswith("mtp") or not ((config or {}).get("model") or method):
            return True
        self._problem("info", f"speculates with {method or 'a draft model'}, whose model is not judged here")
        return False

    def _size(self, name: str) -> int:
        text = str(self.given[name])
        try:
            size = int(text[:_LONGEST])
        except ValueError:
            size = 0
        if not 1 <= size <= _MOST:
            option = name.replace("_", "-")
            self._problem("error", f"--{option}: expected a number from 1 to {_MOST}, got {_short(text)!r}")
            return 1
        return size

    def _object(self, name: str) -> Mapping[str, Any] | None:
        text = self.given.get(name)
        if text is None:
            return None
        if isinstance(text, Mapping):
            return self._bounded(name, text)
        try:
            value = json.loads(text) if isinstance(text, str) else text
        except (ValueError, RecursionError) as error:
            self._problem("error", f"--{name.replace('_', '-')}: is no JSON: {error}")
            return None
        if not isinstance(value, dict):
            self._problem("error", f"--{name.replace('_', '-')}: expected a JSON object")
            return None
        return self._bounded(name, value)

    def _bounded(self, name: str, value: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """A copy. Nothing is said of a model where it is beyond the bounds of what a config may hold."""
        try:
            return checked(value, f"--{name.replace('_', '-')}")
        except InputError as error:
            self.unjudged = str(error)
            return None

    def _text(self, name: str) -> str | None:
        """The option's value where it is text. A log may hold anything in its place."""
        value = self.given.get(name)
        if value is None or isinstance(value, str):
            return value
        self._problem("error", f"--{name.replace('_', '-')}: expected text, got {value!r}")
        return None

    def _also(self) -> None:
        level = self.given.get("optimization_level")
        if isinstance(level, str) and level not in _LEVELS and not level.startswith("<"):  # which is a log's
            dotted = f"; -O{level} is written -cc{level} since 0.13.0" if level.startswith(".") else ""
            self._problem("error", f"--optimization-level: expected 0, 1, 2 or 3, got {_short(level)!r}{dotted}")
        if self.given.get("model_impl") in ("transformers", "terratorch"):
            self.unjudged = f"--model-impl {self.given['model_impl']}: the model's own class is not built"
        if self.given.get("data_parallel_size_local") is not None and "data_parallel_size" not in self.given:
            self._problem("info", "--data-parallel-size-local without --data-parallel-size says nothing")

    def _options(self, objects: Mapping[str, Mapping[str, Any] | None]) -> Iterator[Option]:
        for name, value in self.given.items():
            if name in ("model_tag", "model", "config"):
                continue
            shown = objects.get(name) if objects.get(name) is not None else value
            yield Option(name=name, value=shown, bears=name in _BEARS | _ALSO)

    def _problem(self, severity: Any, message: str) -> None:
        self.problems.append(Problem(severity=severity, message=message))


def _is_given(value: Any) -> bool:
    """vLLM's optional options take `none` and nothing for no value (engine/arg_utils.py:140 at 0.33.0)."""
    return value not in (None, "", "None")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _of(target: Target) -> dict[str, Any]:
    return {name: getattr(target, name) for name in Target.__dataclass_fields__}
