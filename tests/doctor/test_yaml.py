"""The plain part of YAML reads as YAML; the rest is refused by its line."""

import time
from typing import Any

import pytest

from fse_core.doctor import yaml
from fse_core.errors import InputError


def test_a_config_file() -> None:
    text = """\
---
# how it is served
model: amd/DeepSeek-R1-MXFP4   # a comment
tensor-parallel-size: 8
enable_expert_parallel: true
trust-remote-code: no
gpu-memory-utilization: 0.9
revision: "abc # no comment"
served-model-name:
- a
- 'it''s'
speculative-config:
  method: mtp
  nested:
    num: 1
port: 8000
quantization-config: {"targets": {"*shared_expert*": "mxfp4"}}
cudagraph-capture-sizes: [1, 2, 4]
quantization: null
dtype:
"""
    assert yaml.read(text, "x.yaml") == {
        "model": "amd/DeepSeek-R1-MXFP4",
        "tensor-parallel-size": 8,
        "enable_expert_parallel": True,
        "trust-remote-code": False,
        "gpu-memory-utilization": 0.9,
        "revision": "abc # no comment",
        "served-model-name": ["a", "it's"],
        "speculative-config": {"method": "mtp", "nested": {"num": 1}},
        "port": 8000,
        "quantization-config": {"targets": {"*shared_expert*": "mxfp4"}},
        "cudagraph-capture-sizes": [1, 2, 4],
        "quantization": None,
        "dtype": None,
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("-1", -1), ("1.5", 1.5), ("1e3", "1e3"), ("1.0e+3", 1000.0), ("on", True), ("~", None), ("a b", "a b"),
     ("007", "007"), ("http://x:1", "http://x:1")],
)  # fmt: skip
def test_scalars(text: str, value: Any) -> None:
    assert yaml.read(f"key: {text}", "x") == {"key": value}


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "---\n"])
def test_nothing_is_no_option(text: str) -> None:
    assert yaml.read(text, "x") == {}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: &x 1", 1),
        ("a: *x", 1),
        ("a: !!str 1", 1),
        ("a: 1\nb: >\n  text", 2),
        ("a: [1,\n 2]", 1),
        ("a: {b}", 1),
        ("a: b: 1", 1),
        ("a: 1\n---\nb: 2", 2),
        ("a: - 1", 1),
        ("a: {b: *x}", 1),
        ("a: [b: 1]", 1),
        ("a: [{b: 1]", 1),
        ('a: ["\\q"]', 1),
        ("a: {b: 1} c", 1),
        ("a: " + "[" * 100, 1),
        ("a: 1\n  b: 2", 2),
        ("a:\n- - b", 2),
        ("a:\n-", 2),
        ("a: 'x", 1),
        ("a:\n- b: 1\n   c: 2", 3),
        ("just text", 1),
        ("a: 1\n\tb: 2", 2),
    ],
)
def test_what_is_beyond_is_refused_by_its_line(text: str, line: int) -> None:
    with pytest.raises(InputError, match=f"x: line {line} "):
        yaml.read(text, "x")


def test_a_list_is_no_mapping() -> None:
    with pytest.raises(InputError, match="mapping"):
        yaml.read("- a\n- b", "x")


def test_deep_nesting_is_refused_and_does_not_end_the_program() -> None:
    text = "\n".join(" " * depth + "a:" for depth in range(5000))
    with pytest.raises(InputError, match="deep"):
        yaml.read(text, "x")


DOCUMENT = """\
list:
- name: a
  value: "1"   # a comment
  deep:
    - x
    - {k: v, "q r": 's, t', n: [1, 2.5, true, ~, -1], e: {}, u: http://a:1/b}
- name: b
-   c: 1
    d: [a b, 'it''s', "x\\ty", http://x:80]
text: |
  if true; then   # no comment
    echo "a: b"

  fi
strip: |-
    one
    - two

after: [ ]
items:
  - |
    vllm serve m
  - key: |
      in a list
    next: 1
"""


def test_lists_of_mappings_brackets_and_literal_text() -> None:
    assert yaml.read(DOCUMENT, "x") == {
        "list": [
            {
                "name": "a",
                "value": "1",
                "deep": [
                    "x",
                    {"k": "v", "q r": "s, t", "n": [1, 2.5, True, None, -1], "e": {}, "u": "http://a:1/b"},
                ],
            },
            {"name": "b"},
            {"c": 1, "d": ["a b", "it's", "x\ty", "http://x:80"]},
        ],
        "text": 'if true; then   # no comment\n  echo "a: b"\n\nfi\n',
        "strip": "one\n- two",
        "after": [],
        "items": ["vllm serve m\n", {"key": "in a list\n", "next": 1}],
    }


@pytest.mark.parametrize("line", [f"c{' ' * 200_000}d", f"c: {{d{' ' * 200_000}e}}", f"c: {'- ' * 400_000}"])
def test_long_lines_take_no_long_time(line: str) -> None:
    began = time.process_time()
    with pytest.raises(InputError):
        yaml.read(f"a: b\n{line}\n", "x")
    assert time.process_time() - began < 5


def test_spaces_before_a_colon_are_no_part_of_a_key() -> None:
    assert yaml.read("a b  : 1\n'c'  : 2\n-d : 3\ne: {f g  : 4}", "x") == {"a b": 1, "c": 2, "-d": 3, "e": {"f g": 4}}


def test_what_is_too_long_for_a_number_is_text() -> None:
    assert yaml.read(f"a: {'1' * 5000}", "x") == {"a": "1" * 5000}
