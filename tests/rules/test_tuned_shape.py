"""FSE127's data: well formed, told apart, and read only where there may be something to say."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from fse_core.rules import tuned_shape
from tests.models import DEEPSEEK, FP8_BLOCK, asked
from tests.rules.cases import R1, only
from tests.rules.situations.kernels import GLM_5_3

DATA: dict[str, Any] = tomllib.loads(Path(tuned_shape.__file__).with_name("tuned_shapes.toml").read_text("utf-8"))
UNITS = {"gfx942": 304, "gfx950": 256}


@pytest.mark.parametrize("table", DATA["table"], ids=lambda table: f"{table['file']} {table['gfx']}")
def test_a_table_says_where_it_comes_from_and_what_it_is_for(table: dict[str, Any]) -> None:
    assert re.fullmatch(r"(model_configs/)?[\w.]*fmoe[\w.]*\.csv", table["file"])
    assert re.fullmatch(r"[0-9a-f]{40}", table["commit"])
    assert table["units"] == UNITS[table["gfx"]]
    assert table["scales"] in ("per_1x128", "per_1x32")
    assert table["shapes"] == sorted(table["shapes"])
    for hidden, width, experts, chosen in table["shapes"]:
        assert hidden >= 1024
        assert width % 128 == 0
        assert 0 < chosen < experts


def test_what_fails_has_no_row_and_a_source() -> None:
    known = tuned_shape._known()
    assert known.failing
    assert not set(known.failing) & set(known.rows)
    assert all(re.fullmatch(r"ROCm/aiter#\d+", one.source) for one in known.failing.values())


def test_the_evidence_names_table_commit_and_gpu() -> None:
    finding = only(asked(FP8_BLOCK, R1, gfx="gfx950", tp=8, draft=False), "FSE127")
    units = "for GPUs with 256 compute units"
    assert finding.evidence == (
        f"with fusion: model_configs/a8w8_blockscale_tuned_fmoe_ds_v3.csv at 0b1924d9da2e, {units}",
        "without fusion (256 experts, 8 chosen): model_configs/dsv32_a8w8_blockscale_tuned_fmoe.csv at 70be56bd58fb, "
        f"{units}",
    )


def test_a_shape_with_fusion_alone_says_so() -> None:
    finding = only(asked(FP8_BLOCK, GLM_5_3, gfx="gfx950", tp=8, draft=False), "FSE127")
    assert (finding.severity, finding.evidence[1]) == (
        "info",
        "without fusion (288 experts, 8 chosen): no row known here",
    )


@pytest.mark.parametrize(
    ("config", "target"),
    [(DEEPSEEK, {}), (R1, {"moe_backend": "triton"}), (R1, {"ep": True}), ({**R1, "num_experts_per_tok": None}, {})],
)
def test_the_data_is_not_read_for_nothing(config: dict[str, Any], target: dict[str, Any]) -> None:
    tuned_shape._known.cache_clear()
    asked(FP8_BLOCK, config, gfx="gfx950", tp=8, **target)
    assert tuned_shape._known.cache_info().currsize == 0
