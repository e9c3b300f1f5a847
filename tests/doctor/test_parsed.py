"""Command lines are read as the releases' own parsers read them, by what conformance/recorded/parsed.json holds."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fse_core import releases
from fse_core.doctor import flags, words
from fse_core.errors import InputError

RECORDED = json.loads((Path(__file__).parents[2] / "conformance" / "recorded" / "parsed.json").read_text("utf-8"))
CASES = [
    pytest.param(release, line, answer, id=f"{release} {' '.join(line)}")
    for release, answers in RECORDED["answers"].items()
    for line, answer in zip(RECORDED["lines"], answers, strict=True)
]
OBJECTS = {"quantization_config", "kernel_config", "compilation_config"}
"""What the releases' parsers make objects of their own of."""
AS_BY_ITSELF = {"enable_expert_parallel", "enable_eplb", "all2all_backend", "quantization", "config"}
"""What the lines also give the value that it has by itself, which the releases' answers leave out."""


def parse(release: str, line: list[str]) -> Mapping[str, Any] | None:
    """What we make of the words, None where the release would end there."""
    try:
        prepared = words.prepared(line, lambda _: [], serve=True, version=release)
        given, unknown = flags.parser(release).parse_known_args(prepared)
    except InputError:
        return None
    return None if unknown else vars(given)


def alike(ours: Any, theirs: Any) -> bool:
    """Whether the text that we keep is the value that the release has made of it."""
    if isinstance(theirs, bool | list) or not isinstance(ours, str):
        return bool(ours == theirs)
    if isinstance(theirs, dict):
        return all(json.loads(ours)[key] == value for key, value in theirs.items())
    if isinstance(theirs, int | float):
        return float(ours.replace("k", "e3")) == theirs
    return theirs in (ours, ours.lower())


@pytest.mark.parametrize(("release", "line", "answer"), CASES)
def test_words_are_read_as_the_release_reads_them(release: str, line: list[str], answer: Mapping[str, Any]) -> None:
    ours = parse(release, line)
    if "error" in answer:
        assert ours is None or "quantization_config" in ours  # what that may hold is told with what the engine raises
        return
    assert ours is not None
    theirs = answer["given"]
    if "model" in theirs and "model_tag" in ours:  # `vllm serve` moves it to its first word before it parses
        theirs = {**theirs, "model_tag": theirs["model"]}
        theirs.pop("model")
    for name, value in theirs.items():
        assert isinstance(json.loads(ours[name]), dict) if name in OBJECTS else alike(ours[name], value), name
    assert ours.keys() - theirs.keys() <= AS_BY_ITSELF


def test_both_kinds_of_answers_are_recorded() -> None:
    kinds = {next(iter(answer)) for answers in RECORDED["answers"].values() for answer in answers}
    assert kinds == {"given", "error"}


@pytest.mark.parametrize("release", releases.known())
def test_every_release_takes_what_bears_on_fusion(release: str) -> None:
    line = ["m", "-tp", "8", "--pipeline-parallel-size", "2", "-dp", "2", "--enable-expert-parallel", "--enable-eplb"]
    ours = parse(release, [*line, "--hf-overrides", "{}", "--quantization", "quark", "--speculative-config", "{}"])
    assert ours is not None
    assert ours["tensor_parallel_size"] == "8"


def test_options_came_and_went() -> None:
    overlay = ["m", "--quantization-config", "{}"]
    assert [parse(release, overlay) is not None for release in ("0.11.1", "0.33.0")] == [False, True]
    negated = ["m", "--disable-expert-parallel"]
    assert [parse(release, negated) is not None for release in ("0.24.0", "0.33.0")] == [False, True]
