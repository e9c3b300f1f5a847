"""Two reports side by side: where their targets differ, and which layers get another answer."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

SCHEMA = "fse.compare/1"

_ANSWER = ("decision", "mode", "reason", "error", "slots")

Place = tuple[str, int]


def compare(a: Mapping[str, Any], b: Mapping[str, Any], engine: str) -> dict[str, Any]:
    """Both reports, and what is not the same in them. Layers in a row that differ alike are one entry."""
    targets = {
        name: {"a": a["target"][name], "b": b["target"][name]}
        for name in a["target"]
        if a["target"][name] != b["target"][name]
    }
    layers = list(_differing(a, b))
    return {
        "schema": SCHEMA,
        "engine": engine,
        "same": not layers and a["verdict"] == b["verdict"] and a["startup_error"] == b["startup_error"],
        "verdicts": {"a": a["verdict"], "b": b["verdict"]},
        "target_differences": targets,
        "layer_differences": layers,
        "a": a,
        "b": b,
    }


def _differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    ours, theirs = _answers(a), _answers(b)
    places = sorted((place for place in {**ours, **theirs}), key=lambda place: (place[0] == "draft", place[1]))
    pairs = [(place, ours.get(place), theirs.get(place)) for place in places]
    for (part, one, other), group in groupby(pairs, key=lambda pair: (pair[0][0], pair[1], pair[2])):
        indexes = [place[1] for place, _, _ in group]
        if one != other:
            yield {"part": part, "layers": indexes, "a": one, "b": other}


def _answers(report: Mapping[str, Any]) -> dict[Place, dict[str, Any]]:
    return {(layer["part"], layer["index"]): {name: layer[name] for name in _ANSWER} for layer in report["layers"]}
