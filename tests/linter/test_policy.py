"""What a project makes of findings: selection, severities, ignores with their day, and what is told of these."""

from datetime import date
from typing import Any

import pytest

from fse_core.policy import Checked, Policy, excused
from fse_core.report import Place, Report, Source
from fse_core.settings import Ignore, Settings
from tests.output.reports import finding, layer, report

TODAY = date(2027, 1, 15)


def ignore(**more: Any) -> Ignore:
    facts: dict[str, Any] = {
        "rule": "FSE101",
        "reason": "known",
        "until": date(2027, 2, 1),
        "number": 1,
        "place": Place(file="fse.toml", line=3, column=1),
    }
    return Ignore(**{**facts, **more})


def made(*findings: Any, **more: Any) -> Report:
    layers = tuple(layer(index, findings=("FSE101",)) for index in (3, 4))
    return report(*layers, findings=findings or (finding(layers="3-4", part="target"),), **more)


def applied(*ignores: Ignore, reports: tuple[Checked, ...] = (), **more: Any) -> list[Report]:
    policy = Policy(settings=Settings(ignores=ignores), today=TODAY, **more)
    return policy.applied(reports or (Checked(report=made()),))


def rules(found: Report) -> list[str]:
    return [one.rule for one in found.findings]


def test_an_ignore_puts_a_finding_aside_and_says_why() -> None:
    (found,) = applied(ignore())
    assert rules(found) == []
    assert [(one.finding.rule, one.reason, one.until) for one in found.ignored] == [("FSE101", "known", "2027-02-01")]
    assert [one.findings for one in found.layers] == [(), ()]


def test_on_its_day_it_holds_no_longer() -> None:
    (found,) = applied(ignore(until=TODAY))
    assert rules(found) == ["FSE101", "FSE003"]
    assert found.ignored == ()
    assert "its day was 2027-01-15" in found.findings[1].message
    assert found.findings[1].places == (Place(file="fse.toml", line=3, column=1),)


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ({"rule": "FSE114"}, "FSE004"),
        ({"layers": "3"}, "FSE004"),
        ({"layers": "1-9"}, None),
        ({"layers": "3, 4"}, None),
        ({"model": "org/*"}, None),
        ({"model": "other/*"}, "not told"),
        ({"target": "mi300"}, None),
        ({"target": "mi355"}, "not told"),
    ],
)
def test_what_it_covers_and_whether_it_is_of_use(more: dict[str, Any], rule: str | None) -> None:
    (found,) = applied(ignore(**more), reports=(Checked(report=made(), target="mi300"),))
    assert rules(found) == {None: [], "not told": ["FSE101"]}.get(rule, ["FSE101", rule])


def test_one_that_is_used_for_one_target_is_of_use() -> None:
    clean = report(findings=())
    found = applied(ignore(), reports=(Checked(report=clean, target="a"), Checked(report=made(), target="b")))
    assert [rules(one) for one in found] == [[], []]


def test_one_that_nothing_uses_is_told_once() -> None:
    clean = Checked(report=report(findings=()))
    assert [rules(one) for one in applied(ignore(), reports=(clean, clean))] == [["FSE004"], []]


def test_one_for_a_model_that_is_undecided_is_not_judged() -> None:
    undecided = report(findings=(), verdict="undecided", undecided_reason="because")
    assert [rules(one) for one in applied(ignore(), reports=(Checked(report=undecided),))] == [[]]


def test_paths_are_told_from_where_the_settings_are() -> None:
    source = Source(kind="path", id="/project/models/a/config.json")
    policy = Policy(settings=Settings(folder="/project", ignores=(ignore(model="models/a"),)), today=TODAY)
    (found,) = policy.applied([Checked(report=made(source=source))])
    assert rules(found) == []


def test_selection_and_the_command_line() -> None:
    other = finding(rule="FSE117", name="shared-width", severity="error")
    both = (Checked(report=made(finding(), other)),)
    (found,) = applied(reports=both, select=frozenset({"FSE117"}))
    assert (rules(found), [one.reason for one in found.ignored]) == (["FSE117"], ["not selected"])
    (found,) = applied(reports=both, ignore=frozenset({"FSE117"}))
    assert (rules(found), [one.reason for one in found.ignored]) == (["FSE101"], ["--ignore"])
    (found,) = applied(ignore(rule="FSE114"), reports=both, select=frozenset({"FSE101"}))
    assert rules(found) == ["FSE101"], "an ignore of what is not looked at is not judged"


def test_severities_are_the_projects_own_and_order_the_findings() -> None:
    both = made(finding(rule="FSE117", severity="error"), finding(severity="warning"))
    settings = Settings(severity={"FSE117": "info", "FSE101": "error"})
    (found,) = Policy(settings=settings, today=TODAY).applied([Checked(report=both)])
    assert [(one.rule, one.severity) for one in found.findings] == [("FSE101", "error"), ("FSE117", "info")]


def test_a_model_that_breaks_by_what_is_ignored_alone_is_excused() -> None:
    breaking = finding(consequence="load_fails", severity="error")
    (found,) = applied(ignore(), reports=(Checked(report=made(breaking, verdict="breaks")),))
    assert excused(found)
    also = finding(rule="FSE117", consequence="silent_corruption", severity="error")
    (found,) = applied(ignore(), reports=(Checked(report=made(breaking, also, verdict="breaks")),))
    assert not excused(found)
