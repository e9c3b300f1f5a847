"""Every rule has situations that it speaks in and at least two in which it is silent, and says what it should."""

import importlib
import json
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fse_core import rules
from fse_core.report import Fix
from tests.rules import situations
from tests.rules.situations import Situation

ALL: list[Situation] = [
    one
    for info in pkgutil.iter_modules(situations.__path__)
    for one in importlib.import_module(f"{situations.__name__}.{info.name}").SITUATIONS
]


@pytest.mark.parametrize("one", [one for one in ALL if one.silent], ids=lambda one: f"{one.rule}: {one.name}")
def test_silent(one: Situation) -> None:
    assert one.said() == []


@pytest.mark.parametrize("one", [one for one in ALL if not one.silent], ids=lambda one: f"{one.rule}: {one.name}")
def test_spoken_of(one: Situation) -> None:
    (finding,) = one.said()
    for words in one.words:
        assert words in finding.message
    assert one.consequence in (None, finding.consequence)
    assert one.confidence in (None, finding.confidence)
    assert one.layers in (None, finding.layers)
    assert finding.evidence
    if one.fix is not None:
        assert one.fix in json.dumps([[fix.kind, fix.safety, fix.patch] for fix in finding.fixes])


def merged(old: dict[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    return {**old, **{k: merged(old.get(k) or {}, v) if isinstance(v, Mapping) else v for k, v in new.items()}}


def applied(one: Situation, fix: Fix) -> Situation | None:
    """The situation with the fix; None where it is nothing that a config or a target holds."""
    target = one.target
    match fix.kind:
        case "env":
            return replace(one, target={**target, "environment": {**target.get("environment", {}), **fix.patch}})
        case "flag":
            options = {name.strip("-").replace("-", "_"): value for name, value in fix.patch.items()}
            return replace(one, target={**target, **options})
        case "release":
            return replace(one, target={**target, **fix.patch})
        case "quantization_config":
            return replace(one, target={**target, "vllm": "latest", "overlay": fix.patch["quantization_config"]})
        case "config_patch":
            block = {} if one.block is None else {"quantization_config": one.block}
            config = merged({**one.config, **block}, fix.patch)
            return replace(one, block=config.pop("quantization_config", None), config=config)
    return None


FIXED = [(one, fix) for one in ALL if not one.silent for finding in one.said() for fix in finding.fixes]


@pytest.mark.parametrize(
    ("one", "fix"), FIXED, ids=lambda each: each.name if isinstance(each, Situation) else each.kind
)
def test_each_fix_helps(one: Situation, fix: Fix) -> None:
    """What the rule said is gone, and the start does not fail where it did not before."""
    after = applied(one, fix)
    if after is None:
        assert fix.kind in ("requantize", "revision")
        return
    assert after.said() == []
    assert after.report().verdict != "fails" or one.report().verdict == "fails"


def test_names_are_told_apart() -> None:
    names = [(one.rule, one.name) for one in ALL]
    assert len(set(names)) == len(names)


def test_each_rule_has_both_kinds() -> None:
    mine = {one.rule for one in ALL}
    assert mine <= {known.rule.id for known in rules.known()}
    for rule in mine:
        assert any(not one.silent for one in ALL if one.rule == rule), rule
        assert sum(one.silent for one in ALL if one.rule == rule) >= 2, rule
