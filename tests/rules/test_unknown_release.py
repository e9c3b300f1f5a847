"""FSE151: versions that are none of the known releases."""

import pytest

from fse_core import releases
from tests.models import FP8_BLOCK, asked
from tests.rules.cases import only

NEWEST = releases.known()[-1]


@pytest.mark.parametrize(
    ("version", "answers"),
    [("0.25.7", "0.25.1"), ("99.0", NEWEST), ("0.29.0rc2", "0.29.0"), ("0.33.1.dev12+gabc", NEWEST)],
)
def test_another_release_answers(version: str, answers: str) -> None:
    report = asked(FP8_BLOCK, vllm=version)
    finding = only(report, "FSE151")
    assert (finding.severity, finding.layers, finding.part) == ("warning", "", None)
    assert f"vLLM {version} " in finding.message
    assert f"vLLM {answers} does" in finding.message
    assert report.target["vllm"] == answers
    assert report.verdict == "fuses"
    assert finding.fixes[0].patch == {"vllm": answers}


def test_it_is_said_of_an_undecided_model_too() -> None:
    report = asked(None, {"architectures": ["NoSuchModel"]}, vllm="99.0")
    assert report.verdict == "undecided"
    assert only(report, "FSE151").severity == "warning"


@pytest.mark.parametrize("version", ["latest", "0.33.0", "v0.28.0", "0.19.1+rocm721"])
def test_known_ones_are_left_alone(version: str) -> None:
    assert asked(FP8_BLOCK, vllm=version).findings == ()
