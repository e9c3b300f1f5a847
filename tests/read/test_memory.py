"""Hostile documents, each in a process of its own whose peak memory is measured."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIMIT_MB = 200
M = 8 * 1024 * 1024
KEYS = ",".join(f'"{index:05d}":999' for index in range(399_000))
HOSTILE = {
    "depth": b"[" * M,
    "objects": b'{"a":' * (M // 5),
    "empty lists": b'{"a":[' + b"[]," * (M // 3 - 4) + b"1]}",
    "empty lists within the count": b'{"a":[' + b"[]," * 260_000 + b"1]}",
    "huge integer": b'{"a":' + b"9" * (M - 6) + b"}",
    "huge fraction": b'{"a":0.' + b"9" * (M - 8) + b"}",
    "integers": b'{"a":[' + b"1234567," * 790_000 + b"1]}",
    "keys": f"{{{KEYS}}}".encode(),
    "repeated key": f'{{{KEYS},"00000":1}}'.encode(),
    "non-finite": b'{"a":[' + b"NaN," * 790_000 + b"1]}",
    "one wide character": ('{"a":"\U0001f600' + "x" * (M - 20) + '"}').encode(),
    "escaped pairs": b'{"a":"' + b"\\ud83d\\ude00" * (M // 12 - 1) + b'"}',
    "escapes and keys": f'{{"s":"\\ud83d\\ude00",{KEYS}}}'.encode(),
    "quotes": b'"' * M,
    "nul": b" " * 4 + bytes(M - 4),
}
# The bytes come from a file, so that making them costs the measured process nothing.
PROGRAM = """
import resource, sys
from fse_core.errors import InputError
from fse_core.read.source import read_model
try:
    read_model(sys.argv[1])
    told = "read"
except InputError as error:
    told = f"refused {error}"
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, told)
"""


@pytest.mark.parametrize("kind", HOSTILE)
def test_peak_memory(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(HOSTILE[kind])
    done = subprocess.run(
        # A process started from a large one begins with that one's peak: the shell is a small one in between.
        ["sh", "-c", '"$0" -c "$1" "$2"; exit $?', sys.executable, PROGRAM, str(file)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    peak, _, told = done.stdout.partition(" ")
    assert told.startswith(("read", "refused config.json"))
    print(f"{kind}: {peak} MB, {told[:80]}")
    assert int(peak) < LIMIT_MB
