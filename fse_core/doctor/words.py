"""What vLLM's parser does with words before it looks options up.

Dashes for underscores, dotted JSON options put together, -O, --config files, and the model of `vllm serve`, which may
come as --model. Source: vllm/utils/argparse_utils.py:310-510 at 0.33.0.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fse_core import releases
from fse_core.errors import InputError

_HUMAN = re.compile(r"(\d{1,99}(?:\.\d{1,99})?)([kKmMgGtT])")
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}
_LEVELS, _NO_DOTS, _WANTS_MODEL = (0, 12, 0), (0, 13, 0), (0, 17, 0)
"""Since when -O is a level of its own, since when it takes no dots, and since when a model has to be first."""
_DEEPEST = 256
"""So deep may the names in a dotted option lead."""
_TAKES_SPACE = ("0", "1", "2", "3")


def prepared(words: Sequence[str], load: Callable[[str], Sequence[str]], *, serve: bool, version: str) -> list[str]:
    """The words as options are looked up in them. `load` gives the words of a --config file.

    `serve` tells `vllm serve`, whose first word may be the model, from the module that is run itself. InputError where
    the release of that version ends before it looks anything up.
    """
    numbers = releases.parsed(version).numbers
    found = _model_first(list(words)) if serve else list(words)
    if serve and numbers >= _WANTS_MODEL:
        _require_model(found)
    found = _with_config(found, load, serve=serve)
    return _put_together(list(_spelled(found, numbers)))


def _require_model(words: list[str]) -> None:
    """A name to serve the model by, and no model. Source: vllm/utils/argparse_utils.py:320 at 0.33.0."""
    named = any(re.match(r"--served[-_]model[-_]name(=.|$)", word) for word in words)
    if named and words[0].startswith("-") and not any(re.match(r"--config(=.|$)", word) for word in words):
        what = "`model` should be provided as the first positional argument when using `vllm serve`"
        raise InputError("vllm serve", f"ValueError: {what}. i.e. `vllm serve <model> --<arg> <value>`.")


def _model_first(words: list[str]) -> list[str]:
    for at, word in enumerate(words):
        if word == "--model" and at + 1 < len(words):
            return [words[at + 1], *words[:at], *words[at + 2 :]]
        if word.startswith("--model="):
            return [word.removeprefix("--model="), *words[:at], *words[at + 1 :]]
    return words


def _with_config(words: list[str], load: Callable[[str], Sequence[str]], *, serve: bool) -> list[str]:
    """A file's words come before the others, which therefore win; only `--config FILE` in two words is looked for."""
    if "--config" not in words:
        return words
    if words.count("--config") > 1:
        raise InputError("--config", "is given more than once")
    at = words.index("--config")
    if at + 1 == len(words):
        raise InputError("--config", "names no file")
    loaded = list(load(words[at + 1]))
    first = 1 if serve and not words[0].startswith("-") else 0
    if serve and not first:
        if "--model" not in loaded:
            what = "No model specified! Please specify model either as a positional argument or in a config file."
            raise InputError("vllm serve", f"ValueError: {what}")
        loaded = _model_first(loaded)
    return [*words[:first], *loaded, *words[first:at], *words[at + 2 :]]


def _spelled(words: Sequence[str], numbers: tuple[int, ...]) -> Iterator[str]:
    for at, word in enumerate(words):
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            stem, dot, keys = name.partition(".")
            yield f"{stem.replace('_', '-')}{dot}{keys}{equals}{value}"
        elif word.startswith("-O.") and numbers < _NO_DOTS:
            yield word if numbers < _LEVELS else f"-cc{word.removeprefix('-O')}"
        elif word.startswith("-O") and word != "-O":
            yield from _level(word[2:].removeprefix("="), numbers)
        elif word == "-O" and words[at + 1 : at + 2] and words[at + 1] in _TAKES_SPACE:
            yield _level("", numbers)[0].removesuffix("=")
        else:
            yield word


def _level(value: str, numbers: tuple[int, ...]) -> tuple[str, ...]:
    """What -O3 stands for. -O.backend=eager is a compilation config until 0.13.0, which takes it for a level, too.

    Source: vllm/utils/argparse_utils.py:255 at 0.11.1, :260 at 0.12.0, :247 at 0.13.0, :356 at 0.33.0.
    """
    return (f"-O.mode={value}",) if numbers < _LEVELS else ("--optimization-level", value)


def _put_together(words: list[str]) -> list[str]:
    """Without `--option.key value`, and with one `--option JSON` for all of those of an option at the end."""
    kept: list[str] = []
    objects: dict[str, dict[str, Any]] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if not name.startswith("-") or "." not in name or _is_number(name):
            kept.append(word)
            continue
        if not equals:
            value = next(rest, "")
        parsed = _parsed(value)
        if name.endswith("+"):
            name, parsed = name[:-1], value.split(",")
        option, *keys = name.split(".")
        if len(keys) > _DEEPEST:
            raise InputError(option, f"is nested more than {_DEEPEST} deep")
        for key in reversed(keys):
            parsed = {key: parsed}
        _merge(objects.setdefault(option, {}), parsed)
    for option, whole in objects.items():
        kept += [option, json.dumps(whole)]
    return kept


def _is_number(word: str) -> bool:
    return re.fullmatch(r"-\d*\.?\d+", word) is not None


def _parsed(text: str) -> Any:
    """The JSON value, a number such as 80g, or the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    match = _HUMAN.fullmatch(text)
    if match is None or (match[2].isupper() and "." in match[1]):
        return text
    base = 1024 if match[2].isupper() else 1000
    return int(float(match[1]) * base ** _POWERS[match[2].lower()])


def _merge(whole: dict[str, Any], more: dict[str, Any]) -> None:
    for key, value in more.items():
        known = whole.get(key)
        if isinstance(value, dict) and isinstance(known, dict):
            _merge(known, value)
        elif isinstance(value, list) and isinstance(known, list):
            known += value
        else:
            whole[key] = value
