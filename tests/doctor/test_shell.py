"""Pasted shell text becomes the words that a shell would make of it."""

import shlex
import subprocess

import pytest

from fse_core.doctor import shell
from fse_core.errors import InputError


def words(text: str) -> list[list[str]]:
    return [found for found, _ in shell.read(text).commands]


@pytest.mark.parametrize(
    "text",
    [
        "vllm serve m -tp 8",
        "vllm serve 'a b' \"c d\" e\\ f",
        'vllm serve m \\\n  -tp 8 \\\n  --x \'{"a": "b c"}\'',
        'vllm serve m --x "{\\"a\\": 1}" # a comment \'with a quote',
        'vllm serve m#1 --y=""',
        "vllm serve 'it'\"'\"'s' ''",
    ],
)
def test_words_are_those_of_a_shell(text: str) -> None:
    script = text.replace("vllm serve", "printf '%s\\0'", 1)
    told = subprocess.run(["sh", "-c", script], capture_output=True, check=True).stdout.decode()
    assert words(text) == [["vllm", "serve", *told.removesuffix("\0").split("\0")]]


def test_commands_end_where_a_shell_ends_them() -> None:
    assert words("a b; c && d || e | f\ng & h") == [["a", "b"], *([name] for name in "cdefgh")]


def test_prompts_continued_lines_and_carriage_returns_are_no_words() -> None:
    assert words("$ vllm serve m \\\r\n> -tp 8\r\n") == [["vllm", "serve", "m", "-tp", "8"]]


def test_what_is_redirected_is_left_out() -> None:
    assert words("vllm serve m -tp 8 2>&1 >log < /dev/null | tee x") == [
        ["vllm", "serve", "m", "-tp", "8"],
        ["tee", "x"],
    ]


def test_exported_variables_are_told_from_those_that_are_only_set() -> None:
    script = shell.read("A=1\nexport B=2 C\nD=4; export D\nvllm serve m")
    assert script.only_set == {"A": "1"}
    assert script.exported == {"B": "2", "D": "4"}
    assert script.commands == [(["vllm", "serve", "m"], {"B": "2", "D": "4"})]


def test_a_variable_that_is_known_is_filled_in_and_another_stays() -> None:
    text = "M=org/name\nexport TP=8\nvllm serve $M -tp ${TP} --port ${PORT:-8000} --x $Y '$M' \"$M\" $(id) ${Z}"
    assert words(text)[0][2:] == [
        "org/name", "-tp", "8", "--port", "8000", "--x", "$Y", "$M", "org/name", "$(id)", "${Z}",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["vllm serve 'm", 'vllm serve "m', "x \"a' b"])
def test_an_open_quote_is_an_error(text: str) -> None:
    with pytest.raises(ValueError):
        shlex.split(text)
    with pytest.raises(InputError, match="left open"):
        shell.read(text)


def test_a_text_without_end_is_refused() -> None:
    with pytest.raises(InputError, match="longer"):
        shell.read("a" * (1 << 21))
