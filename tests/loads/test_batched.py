"""Routed experts that are all in one tensor. Measured on 0.24.0 to 0.33.0."""

import pytest

from fse_core.report import Finding
from tests.models import DEEPSEEK, FP8_BLOCK
from tests.rules.cases import GLM_4_7
from tests.rules.stored import blocks, expert, found, plain
from tests.safetensors_files import Entry

SHARED = {name: entry for n in (3, 4) for name, entry in expert(f"model.layers.{n}.mlp.shared_experts", plain).items()}


def together(count: int = 8, dtype: str = "BF16", **more: Entry) -> dict[str, Entry]:
    """Both layers; `more` are other tensors beside the experts', by what stands behind `gate_up_proj`."""
    made: dict[str, Entry] = {}
    for layer in (3, 4):
        prefix = f"model.layers.{layer}.mlp.experts"
        made[f"{prefix}.gate_up_proj"] = (dtype, (count, 512, 256))
        made[f"{prefix}.down_proj"] = (dtype, (count, 256, 256))
        made |= {f"{prefix}.gate_up_proj{behind}": entry for behind, entry in more.items()}
    return made


def broken(
    entries: dict[str, Entry], config: dict[str, object], block: dict[str, object] | None = None, vllm: str = "0.33.0"
) -> list[Finding]:
    report = found({**entries, **SHARED}, block, config, vllm=vllm)
    return [finding for finding in report.findings if finding.consequence in ("load_fails", "silent_corruption")]


def test_a_class_that_takes_them() -> None:
    assert broken(together(), GLM_4_7) == []


def test_a_class_that_does_not() -> None:
    (finding,) = broken(together(), DEEPSEEK)
    assert (finding.rule, finding.consequence, finding.confidence) == ("FSE102", "load_fails", "certain")
    assert "are stored in one tensor, BF16 [8, 512, 256], and the class takes them one by one" in finding.message


def test_fewer_than_the_config_says() -> None:
    (finding,) = broken(together(6), GLM_4_7)
    assert (finding.rule, finding.consequence) == ("FSE130", "silent_corruption")
    assert "nothing is stored of routed experts 6, 7's gate weight" in finding.message


def test_more_than_there_is_room_for() -> None:
    (finding,) = broken(together(12), GLM_4_7)
    assert (finding.rule, finding.consequence) == ("FSE130", "load_fails")


@pytest.mark.parametrize(
    "entries",
    [
        together(9),  # the last one goes where the shared expert does
        together(_scale=("F32", (8,))),
        {name: (dtype, shape[1:]) for name, (dtype, shape) in together().items()},
        {
            **together(),
            **expert("model.layers.3.mlp.experts.0", plain),
            **expert("model.layers.4.mlp.experts.0", plain),
        },
    ],
)
def test_what_is_not_told(entries: dict[str, Entry]) -> None:
    assert broken(entries, GLM_4_7) == []


def test_a_name_that_goes_on_as_a_module_does() -> None:
    renamed = {f"{name}.weight": entry for name, entry in together().items()}
    assert {finding.consequence for finding in broken(renamed, GLM_4_7)} == {"load_fails"}


def test_scales_that_are_missing() -> None:
    entries = together(dtype="F8_E4M3")
    made = {
        name: entry for n in (3, 4) for name, entry in expert(f"model.layers.{n}.mlp.shared_experts", blocks).items()
    }
    report = found({**entries, **made}, FP8_BLOCK, GLM_4_7)
    assert {finding.rule for finding in report.findings if finding.consequence == "silent_corruption"} == {"FSE115"}


def test_releases_that_turn_them_are_left_alone() -> None:
    assert broken(together(6), GLM_4_7, vllm="0.27.0") == []
