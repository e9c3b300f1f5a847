"""Regular expressions of a checkpoint are compiled only if matching them ends soon."""

import pytest

from fse_core.errors import Undecided
from fse_core.quantization.regexes import compile_pattern
from tests.models import QUARK_MXFP4, asked


@pytest.mark.parametrize(
    "pattern",
    [
        ".*shared_experts.*",
        r"layers\.(0|1|2)\..*",
        r".*layers\.\d+\.mlp\.experts\.\d+\..*",
        "(gate|up|gate_up)_proj",
    ],
)
def test_what_real_checkpoints_hold_is_compiled(pattern: str) -> None:
    assert compile_pattern(pattern).pattern == pattern


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(a+)+b", "exponential"),
        ("(.*)*x", "exponential"),
        ("(?:a|(b+))*c", "exponential"),
        ("(", "cannot be compiled"),
        (".*" * 7, "too many ways"),
        ("(?:...|..|.)*!", "exponential"),
        ("(?:(?:.{1,16}){1,16}){1,16}!", "exponential"),
        ("(?:.?){16}(?:.?){16}!", "exponential"),
        (".{0,16}" * 9 + "!", "too many ways"),
        ("[[:digit:]]", "cannot be compiled"),
        ("a" * 1001, "longer than"),
    ],
)
def test_what_could_run_away_is_undecided(pattern: str, why: str) -> None:
    with pytest.raises(Undecided, match=why):
        compile_pattern(pattern)


def test_the_report_says_so() -> None:
    report = asked({**QUARK_MXFP4, "exclude": ["re:(.*)*x"]})
    assert report.verdict == "undecided"
    assert report.undecided_reason is not None
    assert "exponential" in report.undecided_reason
