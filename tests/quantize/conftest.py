"""Tests of Triton kernels are collected where triton can be imported, and named at the end where not.

It is no dependency of this project, so what is missing here is no failure; on a GPU, benchmarks/gpu_exact.py does more.
"""

import importlib.util
from typing import Any

MISSING = importlib.util.find_spec("triton") is None
collect_ignore = ["test_triton.py"] if MISSING else []


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if MISSING:
        terminalreporter.section("NOT TESTED", sep="!", yellow=True, bold=True)
        terminalreporter.write_line("tests/quantize/test_triton.py: needs triton (pip install triton)")
