"""The releases' data: valid, whole, and without a word that nothing reads."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import fse_core
from fse_core import releases
from fse_core.families import families
from fse_core.quantization.gate import BRANCHES
from fse_core.quantization.own_branches import OWN

CORE = Path(fse_core.__file__).parent
FOLDER = CORE / "releases"
FILES = sorted(FOLDER.glob("[0-9]*.toml"))
SCHEMA = json.loads((CORE / "schema" / "release-data.schema.json").read_text("utf-8"))
SOURCES = "\n".join(path.read_text("utf-8") for path in CORE.rglob("*.py"))


def data(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text("utf-8"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_file_keeps_to_the_schema(file: Path) -> None:
    Draft202012Validator(SCHEMA).validate(data(file))


def test_the_schema_refuses_what_no_file_may_hold() -> None:
    validator = Draft202012Validator(SCHEMA)
    wrongs: list[dict[str, Any]] = [
        {"changes": [], "gates": {}},
        {"changes": ["no full stop"]},
        {"changes": [], "wired": ["A"]},
    ]
    for wrong in wrongs:
        assert not validator.is_valid(wrong)


def test_each_release_inherits_the_one_before_it() -> None:
    assert len(releases.known()) == len(FILES) == 34
    named = [data(FOLDER / f"{name}.toml").get("inherits") for name in releases.known()]
    assert named == [None, *releases.known()[:-1]]


def test_every_capability_is_described_and_asked_for() -> None:
    described = set(tomllib.loads((FOLDER / "capabilities.toml").read_text("utf-8")))
    stated = {name for file in FILES for names in data(file).get("capabilities", {}).values() for name in names}
    asked = set(re.findall(r"\.has\(\s*\"(\w+)\"", SOURCES))
    assert described == stated == asked


def test_every_branch_can_be_asked() -> None:
    for name in releases.known():
        release = releases.load(name)
        classes = set(release.methods.values())
        assert set(release.branches) <= classes | set(BRANCHES)
        assert set(release.own_branches) <= set(OWN)


def test_every_architecture_belongs_to_a_family() -> None:
    ever = {name for version in releases.known() for name in releases.load(version).architectures}
    assert ever <= set(families())
    assert set(families()) - ever == {name for family in families().values() for name in family.unregistered}


def test_every_release_has_the_functions_that_its_answers_rest_on() -> None:
    for name in releases.known():
        functions = releases.load(name).functions
        assert "_aiter_ops.py:rocm_aiter_ops.is_fusion_moe_shared_experts_enabled" in functions
        gate = "model_executor/layers/quantization/utils/config_utils.py:is_shared_expert_quant_fse_compatible"
        assert (gate in functions) == bool(releases.load(name).branches)
