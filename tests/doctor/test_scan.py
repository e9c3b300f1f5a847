"""The scanner gives the lines that matter, whatever stands between them and wherever a block ends."""

import io
from collections.abc import Iterable

import pytest

from fse_core.doctor.log import scan

WARNING = b"VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS is enabled but cannot be enabled: x.\n"
BULK = b'(APIServer pid=1) INFO:     10.0.0.1:5 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
MARKED = [
    WARNING,
    b"FSE: 58 of 58 MoE layers fused\n",
    b"INFO Using AITER Fp8 MoE backend out of potential backends\n",
    b"INFO Model loading took 80 GiB\n",
    b"INFO Loading weights took 12 s\n",
    b"Quantized 80 layers of types: x\n",
    b"non-default args: {'model': 'm'}\n",
    b"Initializing a V1 LLM engine (v0.33.0) with config: model='m'\n",
    b"vLLM server version 0.33.0, serving model m\n",
    b"INFO Starting vLLM server on http://0.0.0.0:8000\n",
    "  █▄█▀ █     █     █  model   org/m\n".encode(),
    "\x1b[1m█\x1b[0m  version \x1b[1m0.33.0\n".encode(),
    b"Traceback (most recent call last):\n",
]


class Slow(io.RawIOBase):
    """Gives a few bytes at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        self.data = io.BytesIO(data)
        self.step = step

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        part = self.data.read(min(self.step, len(buffer)))
        buffer[: len(part)] = part
        return len(part)


def found(file: scan.Readable) -> list[tuple[int, bytes]]:
    return list(scan.Scanner(file).lines())


def places(parts: Iterable[bytes]) -> list[tuple[int, bytes]]:
    """Where the lines that matter are, by looking at every line."""
    at, expected = 0, []
    for line in parts:
        if line in MARKED:
            expected.append((at, line))
        at += len(line)
    return expected


@pytest.mark.parametrize("line", MARKED)
def test_each_kind_is_found(line: bytes) -> None:
    parts = [BULK, line, BULK]
    assert found(io.BytesIO(b"".join(parts))) == places(parts)


@pytest.mark.parametrize("step", [1, 7, 4096])
def test_wherever_reading_stops(step: int) -> None:
    parts = [BULK, *MARKED, BULK, *MARKED]
    assert found(Slow(b"".join(parts), step)) == places(parts)


@pytest.mark.parametrize("block", [256, 300, 1000])
def test_wherever_a_block_ends(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "BLOCK", block)
    parts = [part for number in range(40) for part in (BULK * (number % 3), MARKED[number % len(MARKED)])]
    lines = [line + b"\n" for line in b"".join(parts).split(b"\n")[:-1]]
    assert found(io.BytesIO(b"".join(parts))) == places(lines)


def test_several_marks_make_one_line() -> None:
    line = WARNING[:-1] + b" " + WARNING
    assert found(io.BytesIO(line)) == [(0, line)]


def test_a_last_line_without_its_end_counts() -> None:
    assert found(io.BytesIO(BULK + WARNING[:60])) == [(len(BULK), WARNING[:60])]


def test_an_endless_line_takes_bounded_memory() -> None:
    (first, *_) = found(io.BytesIO(b"SHARED_EXPERTS" + b"a" * (5 << 20)))
    assert first[0] == 0
    assert len(first[1]) <= 2 * scan.LONGEST


def test_all_lines_are_given_while_they_are_followed() -> None:
    scanner = scan.Scanner(io.BytesIO(BULK + WARNING + BULK * 3 + WARNING + BULK))
    given = []
    for _, line in scanner.lines():
        if line == WARNING:
            scanner.follow = 0 if WARNING in given else 2 * len(BULK)
        given.append(line)
    assert given == [WARNING, BULK, BULK, WARNING]


def test_long_after_a_start_what_only_a_start_says_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "BLOCK", 1000)
    monkeypatch.setattr(scan, "START", 5000)
    late = b"".join([BULK * 200, MARKED[1], BULK * 200, WARNING, BULK * 20, MARKED[1]])
    assert [line for _, line in found(io.BytesIO(late))] == [WARNING, MARKED[1]]
