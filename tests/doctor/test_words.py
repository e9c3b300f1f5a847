"""--config files in the words, and what the recorded command lines do not reach."""

import pytest

from fse_core.doctor import words
from fse_core.errors import InputError


def loaded(_: str) -> list[str]:
    return ["--model", "org/of-file", "--tensor-parallel-size", "2", "--port", "1"]


def prepared(*line: str, serve: bool = True) -> list[str]:
    return words.prepared(line, loaded, serve=serve)


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
