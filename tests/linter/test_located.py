"""Evidence and where it stands in the files."""

import json
from pathlib import Path
from typing import Any

from fse_core import Target, check
from fse_core.located import located
from fse_core.read.source import model_from_bytes, model_from_dict, read_model
from fse_core.report import Place, Report, Source
from tests.linter.checkpoints import APART, NOT_HEARD, PARENTS, SOUND, written
from tests.models import DEEPSEEK
from tests.output.reports import finding
from tests.output.reports import report as made
from tests.rules.cases import QWEN3_NEXT


def report(source: Path, **target: Any) -> Report:
    model = read_model(str(source))
    return located(check(model, Target(**target)), model)


def text_at(place: Place) -> str:
    assert place.line is not None
    assert place.column is not None
    return Path(place.file).read_text().splitlines()[place.line - 1][place.column - 1 :]


def test_an_entry_of_a_list_is_found_itself(tmp_path: Path) -> None:
    file = written(tmp_path, NOT_HEARD)
    first = report(tmp_path).findings[0]
    assert [place.pointer for place in first.places] == [f"/quantization_config/ignored_layers/{n}" for n in (1, 2)]
    assert [text_at(place) for place in first.places] == [f'"{name}",' for name in PARENTS[:2]]
    assert {place.file for place in first.places} == {str(file)}


def test_a_key_is_found_where_it_begins(tmp_path: Path) -> None:
    narrow = {**QWEN3_NEXT, "shared_expert_intermediate_size": 256}
    (found,) = report(written(tmp_path, narrow), draft=False).findings
    assert [text_at(place) for place in found.places] == [
        '"shared_expert_intermediate_size": 256',
        '"moe_intermediate_size": 512,',
    ]


def test_a_list_with_more_entries_than_are_shown_is_found(tmp_path: Path) -> None:
    first = report(written(tmp_path, APART), vllm="0.28.0").findings[0]
    pointers = [place.pointer for place in first.places]
    assert pointers == [*(f"/quantization_config/exclude/{n}" for n in range(3)), "/quantization_config/exclude"]


def test_the_other_file_has_places_of_its_own(tmp_path: Path) -> None:
    written(tmp_path, DEEPSEEK)
    quant = {"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head", PARENTS[0]]}}
    (tmp_path / "hf_quant_config.json").write_text(json.dumps(quant, indent=2))
    place = "hf_quant_config.json: quantization.exclude_modules"
    told = finding(
        evidence=(f"{place}: {PARENTS[0]}", place, "hf_quant_config.json:", "hidden_size: 256", "nowhere: 1")
    )
    (found,) = located(made(findings=(told,)), read_model(str(tmp_path))).findings
    assert [place.pointer for place in found.places] == [
        "/quantization/exclude_modules/1",
        "/quantization/exclude_modules",
        "",
        "/hidden_size",
    ]
    assert [Path(place.file).name for place in found.places] == [*["hf_quant_config.json"] * 3, "config.json"]


def test_a_report_says_where_the_config_is(tmp_path: Path) -> None:
    file = written(tmp_path, SOUND)
    assert report(tmp_path).config == report(file).config == Place(file=str(file), line=1, column=1)


def test_what_was_never_a_file_has_no_places() -> None:
    model = model_from_dict(NOT_HEARD)
    found = located(check(model, Target()), model)
    assert found.findings
    assert all(one.places == () for one in found.findings)
    assert found.config is None


def test_a_file_of_the_hub_is_named_with_its_commit() -> None:
    source = Source(kind="hub", id="org/name", revision="main", commit="c0ffee")
    model = model_from_bytes(json.dumps(NOT_HEARD).encode(), source=source)
    assert model.documents[0].file == "hf://org/name@c0ffee/config.json"
