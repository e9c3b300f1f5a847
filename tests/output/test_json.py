"""`fse.report/1`: the shipped schema holds what is written, and refuses what must not be."""

import json
from collections.abc import Callable
from importlib import resources
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from examples.check import Example, examples
from fse_core.output import Style, find
from fse_core.output.json import report_to_dict
from fse_core.report import Failure
from tests.output.reports import failed, finding, layer, report, separate

SCHEMA = json.loads(resources.files("fse_core").joinpath("schema/report-1.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def rendered(*reports: Any) -> Any:
    return json.loads(find("json").render(reports, Style()))


def full() -> dict[str, Any]:
    layers = (layer(3), layer(4, separate("why")), layer(5, failed("ValueError", "no")), layer(61, part="draft"))
    made = report(*layers, findings=(finding(),), startup_error=Failure(type="E", message="m"), verdict="fails")
    return report_to_dict(made)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_every_example_keeps_to_it(example: Example) -> None:
    VALIDATOR.validate(rendered(example.check()))


def test_a_report_with_everything_keeps_to_it_and_has_no_other_field() -> None:
    whole = full()
    VALIDATOR.validate(whole)
    assert list(whole) == list(SCHEMA["properties"])
    for part in ("source", "model", "target"):
        assert set(whole[part]) == set(SCHEMA["properties"][part]["properties"])
    assert set(whole["layers"][0]) == set(SCHEMA["$defs"]["layer"]["properties"])
    assert set(whole["findings"][0]) == set(SCHEMA["$defs"]["finding"]["properties"])
    assert set(whole["findings"][0]["fixes"][0]) == set(SCHEMA["$defs"]["fix"]["properties"])


def set_at(*path: str | int) -> Callable[[Any], dict[str, Any]]:
    def change(value: Any) -> dict[str, Any]:
        whole = json.loads(json.dumps(full()))
        place = whole
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        return dict(whole)

    return change


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "fse.report/2"),
        (("verdict",), "maybe"),
        (("verdict",), "undecided"),
        (("requested",), False),
        (("requested_reason",), "but it is requested"),
        (("layers", 0, "decision"), "perhaps"),
        (("layers", 0, "reason"), "a fused layer gives none"),
        (("layers", 1, "error"), {"type": "E", "message": "m"}),
        (("layers", 2, "error"), None),
        (("layers", 0, "index"), -1),
        (("target", "tp"), 0),
        (("findings", 0, "severity"), "fatal"),
    ],
)
def test_what_must_not_be_is_refused(path: tuple[str | int, ...], value: object) -> None:
    assert not VALIDATOR.is_valid(set_at(*path)(value))


def test_more_fields_are_allowed_and_fewer_are_not() -> None:
    assert VALIDATOR.is_valid({**full(), "new": 1})
    for key in full():
        assert not VALIDATOR.is_valid({name: value for name, value in full().items() if name != key})


def test_one_report_is_an_object_and_several_are_a_list() -> None:
    assert rendered(report())["schema"] == "fse.report/1"
    assert [one["verdict"] for one in rendered(report(), report(verdict="separate"))] == ["fuses", "separate"]


def test_it_is_ascii_whatever_a_config_holds() -> None:
    odd = "caf\u00e9 \U0001f600"
    text = find("json").render([report(architecture=odd)], Style(color=True, width=20))
    assert text.isascii()
    assert json.loads(text)["model"]["architecture"] == odd
