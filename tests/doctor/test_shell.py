"""Pasted shell text becomes the words that a shell would make of it."""

import shlex
import subprocess

import pytest

from fse_core.doctor import shell
from fse_core.doctor.variables import Seen
from fse_core.errors import InputError


def words(text: str) -> list[list[str]]:
    return [found.words for found in shell.read(text).commands]


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
    seen = Seen(exported={"B": "2", "D": "4"}, only_set={"A": "1"})
    assert script.commands == [shell.Given(words=["vllm", "serve", "m"], seen=seen)]


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


def told_by_a_shell(text: str) -> list[str]:
    """The arguments that bash gives to `vllm`."""
    script = "vllm() { printf '%s\\0' \"$@\"; }\n" + text
    told = subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout.decode()
    return told.removesuffix("\0").split("\0")


@pytest.mark.parametrize(
    "text",
    [
        'ARGS="-tp 8 --enable-expert-parallel"; vllm serve m $ARGS',
        'ARGS="-tp 8  -ep "; vllm serve m "$ARGS" x$ARGS$ARGS.y',
        'ARGS="-tp 8"; B=$ARGS; export C=$ARGS; vllm serve $B $C',
        'ARGS=(-tp 8\n  --x "a b" # why\n); vllm serve m "${ARGS[@]}" end',
        'ARGS=(-tp 8); ARGS+=(-ep "a b"); vllm serve m ${ARGS[@]} "${ARGS[*]}" $ARGS',
        'ARGS=(); vllm serve m "${ARGS[@]}"',
        'A=1; A+=2; vllm serve m "$A"',
        "A=1; unset A; vllm serve m $A ${A:-2}",
        "(A=1; export A)\nA=${A:-3}\n( vllm serve m $A )",
        "vllm serve m \\\n   >/dev/stdout -tp 8",
        "# a comment that goes on \\\nvllm serve m # and another \\\n",
        "cat >/dev/null <<EOF\nvllm serve no\nEOF\nvllm serve m",
        "cat >/dev/null <<-'EOF' \nvllm serve no\n\tEOF\nvllm serve m",
        'vllm serve m "a \\\nb" c\\\nd',
        "if true; then A=2; vllm serve m $A; fi",
    ],
)
def test_what_is_set_and_split_is_what_bash_makes_of_it(text: str) -> None:
    served = [found for found in words(text) if found[0] == "vllm"]
    assert served == [["vllm", *told_by_a_shell(text)]]


def test_what_the_shell_alone_knows_is_one_word() -> None:
    text = 'vllm serve m -tp $(nproc --all | (cat)) -dp `nproc` $((1 + 2)) "$@" "${NO[@]}"'
    assert words(text)[0][3:] == ["-tp", "$(nproc --all | (cat))", "-dp", "`nproc`", "$((1 + 2))", "$@", "${NO[@]}"]


def test_a_continued_line_may_begin_with_a_redirection() -> None:
    assert words("vllm serve m -tp 8 \\\n   > log.txt 2>&1") == [["vllm", "serve", "m", "-tp", "8"]]


def test_a_byte_order_mark_is_no_word() -> None:
    assert words("\ufeffvllm serve m") == [["vllm", "serve", "m"]]


@pytest.mark.parametrize("text", ["vllm serve $(a", "vllm `a", "(" * 100, "A=xx\n" + "A=$A$A\n" * 40])
def test_what_has_no_end_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        shell.read(text)


def test_more_variables_than_can_be_kept_are_refused() -> None:
    with pytest.raises(InputError, match="1024 variables"):
        shell.read("".join(f"A{number}=1\nb\n" for number in range(2000)))
