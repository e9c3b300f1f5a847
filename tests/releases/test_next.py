"""A release that does not exist yet: one new file, and everything knows it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fse_core import Target, check, releases
from fse_core.errors import InputError
from fse_core.read.source import model_from_dict
from tests.models import DEEPSEEK, FP8_BLOCK, asked

NEXT = """
inherits = "0.33.0"
changes = ["Ernie 4.5 fuses.", "Per-tensor FP8 is refused in other words."]

[words]
fp8_not_block = "FP8 wants blocks"

[wired]
add = ["Ernie4_5_MoeForCausalLM"]
"""
ERNIE = {
    "architectures": ["Ernie4_5_MoeForCausalLM"],
    "model_type": "ernie4_5_moe",
    "num_hidden_layers": 3,
    "moe_num_experts": 8,
    "moe_num_shared_experts": 1,
    "moe_layer_start_index": 1,
    "moe_layer_interval": 1,
}
PER_TENSOR = {"quant_method": "fp8", "activation_scheme": "dynamic"}


@pytest.fixture
def with_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    shutil.copytree(Path(releases.__file__).parent, tmp_path / "releases")
    (tmp_path / "releases" / "0.34.0.toml").write_text(NEXT)
    monkeypatch.setattr(releases, "_FOLDER", str(tmp_path / "releases"))
    caches = (releases.known, releases.load, releases._data)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.mark.usefixtures("with_next")
def test_one_file_adds_a_release() -> None:
    assert releases.known()[-1] == "0.34.0"
    new, old = (asked(PER_TENSOR, vllm=release).layers[0].decision.reason for release in ("latest", "0.33.0"))
    assert (new, old) == ("FP8 wants blocks", releases.load("0.33.0").words["fp8_not_block"])
    fused, separate = (check(model_from_dict(ERNIE), Target(vllm=release)) for release in ("0.34.0", "0.33.0"))
    assert {layer.decision.decision for layer in fused.layers} == {"fused"}
    assert {layer.decision.decision for layer in separate.layers} == {"separate"}
    assert (fused.verdict, separate.verdict) == ("fuses", "separate")
    assert [layer.slots for layer in fused.layers] == [1, 1]


@pytest.mark.usefixtures("with_next")
def test_the_rest_is_as_it_was() -> None:
    assert asked(FP8_BLOCK, vllm="0.34.0").layers == asked(FP8_BLOCK, vllm="0.33.0").layers


@pytest.mark.parametrize(
    ("version", "answers"),
    [
        ("latest", "0.33.0"),
        ("v0.33.0", "0.33.0"),
        ("0.19.1+rocm721", "0.19.1"),
        ("0.33", "0.33.0"),
        ("0.40.2", "0.33.0"),
        ("0.33.1.dev12+g0a1b2c3", "0.33.0"),
        ("0.34.0rc1", "0.33.0"),
        ("0.28.3", "0.28.0"),
        ("0.25.2.post1", "0.25.1"),
    ],
)
def test_which_release_answers(version: str, answers: str) -> None:
    assert releases.resolve(version) == answers
    assert asked(FP8_BLOCK, vllm=version).target["vllm"] == answers


@pytest.mark.parametrize("version", ["0.10.2", "0.11.0", "", "newest", "0.33.0; rm", "1" * 50, "0.33.0+" + "x" * 200])
def test_what_is_no_known_version(version: str) -> None:
    with pytest.raises(InputError, match="--vllm"):
        releases.resolve(version)


def test_an_older_architecture_name_is_undecided_where_no_class_has_it() -> None:
    report = check(model_from_dict({**DEEPSEEK, "architectures": ["AliceAIForCausalLM"]}), Target(vllm="0.32.0"))
    assert report.undecided_reason == "vLLM 0.32.0 has no class of its own for the architecture AliceAIForCausalLM"
