"""--config files in the words, and what the recorded command lines do not reach."""

import pytest

from fse_core.doctor import words
from fse_core.errors import InputError


def loaded(_: str) -> list[str]:
    return ["--model", "org/of-file", "--tensor-parallel-size", "2", "--port", "1"]


def prepared(*line: str, serve: bool = True, version: str = "0.33.0") -> list[str]:
    return words.prepared(line, loaded, serve=serve, version=version)


def test_a_files_options_come_before_those_of_the_line() -> None:
    given = prepared("org/m", "-tp", "4", "--config", "x.yaml", "--seed", "1")
    assert given == [
        "org/m", "--model", "org/of-file", "--tensor-parallel-size", "2", "--port", "1", "-tp", "4", "--seed", "1",
    ]  # fmt: skip


def test_a_file_may_name_the_model() -> None:
    assert prepared("--config", "x.yaml", "-tp", "4")[0] == "org/of-file"
    assert prepared("--config", "x.yaml", serve=False)[:2] == ["--model", "org/of-file"]


@pytest.mark.parametrize("line", [["m", "--config"], ["m", "--config", "a.yaml", "--config", "b.yaml"]])
def test_a_file_has_to_be_named_once(line: list[str]) -> None:
    with pytest.raises(InputError, match="--config"):
        prepared(*line)


def test_a_file_named_in_one_word_is_not_looked_for() -> None:
    assert prepared("m", "--config=x.yaml") == ["m", "--config=x.yaml"]


def test_dots_in_values_and_numbers_are_no_keys() -> None:
    assert prepared("m", "--gpu-memory-utilization=0.9", "--seed", "-1.5") == [
        "m", "--gpu-memory-utilization=0.9", "--seed", "-1.5",
    ]  # fmt: skip


def test_numbers_with_units() -> None:
    assert prepared("m", "--a.b", "1.5k", "--a.c", "2K", "--a.d", "1.5K")[1:] == [
        "--a", '{"b": 1500, "c": 2048, "d": "1.5K"}',
    ]  # fmt: skip


def test_keys_keep_their_underscores() -> None:
    assert prepared("m", "--hf_overrides.text_config.a_b=1")[1:] == ["--hf-overrides", '{"text_config": {"a_b": 1}}']


LEVEL = '{"level": 3}'


@pytest.mark.parametrize(
    ("line", "old", "middle", "new"),
    [
        (["-O3"], ["-O", '{"mode": 3}'], ["--optimization-level", "3"], ["--optimization-level", "3"]),
        (["-O=3"], ["-O", '{"mode": 3}'], ["--optimization-level", "3"], ["--optimization-level", "3"]),
        (["-O", "1"], ["-O", '{"mode": 1}'], ["--optimization-level", "1"], ["--optimization-level", "1"]),
        (["-O.level", "3"], ["-O", LEVEL], ["-cc", LEVEL], ["--optimization-level", ".level", "3"]),
        (["-O.level=3"], ["-O", LEVEL], ["-cc", LEVEL], ["--optimization-level", ".level=3"]),
        (["-cc.level=3"], ["-cc", LEVEL], ["-cc", LEVEL], ["-cc", LEVEL]),
    ],
)
def test_levels_by_release(line: list[str], old: list[str], middle: list[str], new: list[str]) -> None:
    for version, expected in (("0.11.1", old), ("0.11.2", old), ("0.12.0", middle), ("0.13.0", new), ("0.33.0", new)):
        assert prepared("m", *line, version=version) == ["m", *expected]


def test_a_name_to_serve_by_and_no_model() -> None:
    for line in (["--served-model-name", "a"], ["--served_model_name=a"], ["-tp", "2", "--served-model-name", "a"]):
        assert prepared(*line, version="0.16.0")
        assert prepared(*line, serve=False)
        assert prepared(*line, "--config", "x.yaml")
        with pytest.raises(InputError, match="ValueError: `model` should be provided as the first positional argument"):
            prepared(*line, version="0.17.0")


def test_a_config_file_without_a_model() -> None:
    def load(_: str) -> list[str]:
        return ["--port", "1"]

    assert words.prepared(["m", "--config", "x.yaml"], load, serve=True, version="0.33.0") == ["m", "--port", "1"]
    for version in ("0.11.1", "0.33.0"):
        with pytest.raises(InputError, match="ValueError: No model specified! Please specify model either as a"):
            words.prepared(["--config", "x.yaml"], load, serve=True, version=version)


def test_a_number_that_is_too_long_is_text() -> None:
    assert prepared("m", "--x.a", "1" * 400 + "k") == ["m", "--x", f'{{"a": "{"1" * 400}k"}}']


def test_names_lead_only_so_deep() -> None:
    with pytest.raises(InputError, match="--x: is nested more than 256 deep"):
        prepared("m", "--x" + ".a" * 5000, "1")
