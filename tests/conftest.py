"""What holds for every test: a skip is said loudly at the end, and is a failure where FSE_NO_SKIP=1."""

import os
from collections.abc import Generator
from typing import Any

import pytest

SKIPPING_FORBIDDEN = os.environ.get("FSE_NO_SKIP") == "1"


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    longrepr = report.longrepr
    return str(longrepr[2]) if isinstance(longrepr, tuple) else str(longrepr)


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if SKIPPING_FORBIDDEN and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipping is forbidden here (FSE_NO_SKIP=1): {_reason(report)}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _forbid_skip(report)
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped:
        terminalreporter.section("NOT TESTED", sep="!", red=True, bold=True)
        for report in skipped:
            terminalreporter.write_line(f"{report.nodeid}: {_reason(report)}")
