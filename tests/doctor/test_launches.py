"""Launch commands from public reports get the verdict of the release itself (python -m conformance.launches)."""

import pytest

from conformance.launches import Launch, diagnosis, launches

ALL = launches()


def test_there_are_thirty_of_them() -> None:
    assert len({launch.report for launch in ALL}) == len(ALL) >= 30
    assert {launch.verdict for launch in ALL} >= {"fuses", "separate", "breaks", "fails"}


@pytest.mark.parametrize("launch", ALL, ids=lambda launch: launch.report)
def test_the_verdict(launch: Launch) -> None:
    found = diagnosis(launch)
    assert found.report is not None
    assert found.report.verdict == launch.verdict
    assert found.launch is not None
    assert [problem for problem in found.launch.problems if problem.severity != "info"] == []
    fused = [one for one in found.report.layers if one.part == "target" and one.decision.decision == "fused"]
    assert len(fused) == launch.fused
