"""The formats that programs read: SARIF by its schema, JUnit by a consumer, workflow commands by their grammar."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator
from junitparser import Error, Failure, JUnitXml
from markdown_it import MarkdownIt

from fse_core.output import Run, Style, find
from fse_core.report import Ignored, Place, Report, Source
from fse_core.rules.texts import texts
from tests.output.reports import failed, finding, layer, report, separate

SARIF = "1.0.0-beta.0"
CONFIG = Place(file="models/a/config.json", line=1, column=1)
ENTRY = Place(file="models/a/config.json", pointer="/quantization_config/exclude/4", line=12, column=7)
ODD = "100%\r\nof \x1b[31m it: a,b </testcase> & ]]> \u0000 \ud83d\ude00"


@pytest.fixture(scope="module")
def sarif(request: pytest.FixtureRequest) -> Draft4Validator:
    """The schema of SARIF 2.1.0: FSE_SARIF_SCHEMA names the file, else npm brings it once into pytest's cache."""
    given = os.environ.get("FSE_SARIF_SCHEMA")
    folder = Path(request.config.cache.mkdir(f"sarif-{SARIF}"))
    file = Path(given) if given else folder / "node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"
    if not file.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("the SARIF tests need npm, or FSE_SARIF_SCHEMA with the place of the schema")
        command = [npm, "install", "--prefix", str(folder), "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]
        package = f"@microsoft/jest-sarif@{SARIF}"
        done = subprocess.run([*command, package], capture_output=True, text=True, timeout=180, check=False)
        if not file.exists():
            pytest.skip(f"npm could not bring {package}: {done.stderr[-300:]}")
    return Draft4Validator(json.loads(file.read_text("utf-8")))


def written(name: str, *reports: Report, **run: Any) -> str:
    return find(name).render(reports, Style(run=Run(rules=texts(), **run)))


def local(*findings: Any, **more: Any) -> Report:
    facts: dict[str, Any] = {"source": Source(kind="path", id="models/a"), "config": CONFIG}
    return report(layer(3), layer(4), layer(5, part="draft"), findings=findings, **{**facts, **more})


def everything() -> list[Report]:
    placed = finding(layers="3-4", part="target", places=(ENTRY, replace(ENTRY, pointer="/a", line=2)))
    odd = finding(rule="FSE117", severity="error", message=ODD, evidence=(ODD,), layers="", part=None)
    put_aside = Ignored(finding=finding(rule="FSE114"), reason="known", until="2027-01-01")
    hub = Source(kind="hub", id="org/model", revision="main", commit="c0ffee")
    return [
        local(placed, odd, ignored=(put_aside,)),
        local(placed, target={**local().target, "gfx": "gfx950"}),
        local(verdict="fails", layers=(layer(3, failed("ValueError", ODD)), layer(4, separate("why")))),
        local(verdict="undecided", undecided_reason="nobody knows", source=Source(kind="inline", id="stdin")),
        local(finding(severity="info"), source=hub, config=Place(file="hf://org/model@c0ffee/config.json")),
    ]


def sarif_run(*reports: Report, **run: Any) -> dict[str, Any]:
    (found,) = json.loads(written("sarif", *reports, **run))["runs"]
    return dict(found)


def test_sarif_keeps_to_its_schema(sarif: Draft4Validator) -> None:
    sarif.check_schema(sarif.schema)
    for reports in ([], [local()], everything()):
        sarif.validate(json.loads(written("sarif", *reports, unread=(("org/x", "not there"),))))
    broken = json.loads(written("sarif", *everything()))
    broken["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    assert not sarif.is_valid(broken)


def test_sarif_says_where_and_for_which_modules() -> None:
    first = sarif_run(*everything())["results"][0]
    (location,) = first["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "models/a/config.json", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 12, "startColumn": 7},
    }
    assert location["logicalLocations"] == [
        {"fullyQualifiedName": "model.layers.[3-4].mlp.shared_experts", "kind": "module"},
        {"fullyQualifiedName": "/quantization_config/exclude/4", "kind": "value"},
    ]
    assert first["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 2


def test_sarif_has_one_result_for_all_targets_of_a_source() -> None:
    run = sarif_run(*everything())
    names = [result["ruleId"] for result in run["results"]]
    assert names == ["FSE101", "FSE117", "FSE114", "FSE001", "FSE002", "FSE101"]
    assert run["results"][0]["properties"]["targets"] == ["vLLM 0.33.0, gfx942, tp 8", "vLLM 0.33.0, gfx950, tp 8"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == sorted(set(names))
    assert all(run["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] == one["ruleId"] for one in run["results"])
    assert [one["level"] for one in run["results"]] == ["warning", "error", "warning", "error", "warning", "note"]
    assert run["versionControlProvenance"][0]["revisionId"] == "c0ffee"


def test_sarif_explains_its_rules() -> None:
    rules = sarif_run(*everything())["tool"]["driver"]["rules"]
    for rule, text in ((rule, one) for rule in rules for one in texts() if one.id == rule["id"]):
        assert rule["help"]["markdown"] == text.text.strip()
        assert rule["shortDescription"]["text"] == text.summary


def test_sarif_keeps_what_is_ignored_as_suppressed() -> None:
    suppressed = [one for one in sarif_run(*everything())["results"] if "suppressions" in one]
    assert [(one["ruleId"], one["suppressions"][0]["justification"]) for one in suppressed] == [("FSE114", "known")]


def fingerprints(*reports: Report) -> list[str]:
    return [one["partialFingerprints"]["fse/v1"] for one in sarif_run(*reports)["results"]]


def test_a_fingerprint_knows_no_line_no_words_and_no_release() -> None:
    moved = finding(places=(replace(ENTRY, line=99),), message="other words", layers="3-60", severity="error")
    elsewhere = local(moved, target={**local().target, "vllm": "0.32.0"})
    assert fingerprints(local(finding(places=(ENTRY,)))) == fingerprints(elsewhere)
    others = [
        local(finding(layers="3")),
        local(finding(rule="FSE114")),
        local(finding(evidence=("other",))),
        local(finding(), source=Source(kind="path", id="models/b")),
    ]
    assert len(set(fingerprints(local(finding()), *others))) == 5


def test_a_path_is_one_file_however_it_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    absolute = local(finding(), source=Source(kind="path", id=str(tmp_path / "models" / "a")))
    assert fingerprints(absolute) == fingerprints(local(finding()))
    there = replace(CONFIG, file=str(tmp_path / "models" / "a b%.json"))
    (result,) = sarif_run(replace(absolute, config=there))["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "models/a%20b%25.json"
    outside = sarif_run(replace(absolute, config=replace(CONFIG, file="/elsewhere/c.json")))["results"][0]
    assert outside["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "file:///elsewhere/c.json"}


def test_findings_that_are_as_like_as_can_be_stay_two() -> None:
    assert len(set(fingerprints(local(finding(), finding(message="another"))))) == 2


def command(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as a runner reads it."""
    match = re.fullmatch(r"::(\w+) ((?:\w+=[^,:\r\n]*,?)*)::([^\r\n]*)", line)
    assert match is not None, line
    properties = dict(pair.split("=", 1) for pair in match[2].split(","))
    for one, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        properties = {name: value.replace(one, char) for name, value in properties.items()}
    text = match[3].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
    return match[1], properties, text


def test_workflow_commands_are_read_as_they_were_meant() -> None:
    lines = written("github", *everything(), unread=(("a:b", "not,\nthere"),)).splitlines()
    read = [command(line) for line in lines]
    assert [kind for kind, _, _ in read] == ["warning", "error", "error", "warning", "notice", "error"]
    assert read[0][1] == {
        "file": "models/a/config.json",
        "line": "12",
        "col": "7",
        "title": "FSE101 shared-expert-excluded, layers 3-4",
    }
    assert read[0][2].splitlines()[1] == "Fix (changes-numerics): quantize them while loading"
    assert read[1][2].startswith("100%\\r\\nof \\x1b[31m it: a,b </testcase>")
    assert read[4][1] == {"title": "FSE101 shared-expert-excluded, layers 3-60"}
    assert read[4][2].startswith("org/model: ")
    assert read[5][2] == "a:b: not,\nthere"


def test_nothing_wrong_is_no_command() -> None:
    assert written("github", local()) == ""


def junit(*reports: Report, **run: Any) -> JUnitXml:
    return JUnitXml.fromstring(written("junit", *reports, **run).encode())


def test_a_junit_consumer_counts_what_makes_the_run_fail() -> None:
    read = junit(*everything(), unread=(("org/x", "not there"),), fail_on="error")
    suites = list(read)
    assert [(suite.tests, suite.failures, suite.errors) for suite in suites[1:]] == [
        (suites[1].tests, 0, 0),
        (suites[1].tests, 1, 0),
        (suites[1].tests, 0, 1),
        (suites[1].tests, 0, 0),
        (1, 0, 1),
    ]
    assert suites[0].failures == 1
    results = {case.name.partition(" ")[0]: case.result for case in suites[0]}
    assert set(results) == {rule.id for rule in texts() if rule.id != "FSE002"}
    assert isinstance(results["FSE117"][0], Failure)
    assert results["FSE101"] == results["FSE103"] == []
    (warning,) = (case for case in suites[0] if case.name.startswith("FSE101"))
    assert "warning: FSE101" in warning.system_out, "it is told, and is no failure"
    assert isinstance(next(iter(suites[5])).result[0], Error)


@pytest.mark.parametrize(("fail_on", "failures"), [("never", 0), ("error", 1), ("warning", 2), ("info", 2)])
def test_junit_fails_by_what_the_run_fails_by(fail_on: str, failures: int) -> None:
    (suite,) = junit(everything()[0], fail_on=fail_on)
    assert suite.failures == failures
    assert sum(bool(case.result) and isinstance(case.result[0], Failure) for case in suite) == failures


def test_a_model_that_breaks_fails_whatever_the_run_fails_by() -> None:
    breaking = finding(rule="FSE117", consequence="load_fails", severity="error")
    (suite,) = junit(local(breaking, verdict="breaks"), fail_on="never")
    assert suite.failures == 1


def test_markdown_says_what_it_is_told_to() -> None:
    text = written("markdown", *everything())
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h3"] * 5
    assert not [token for token in tokens if token.type.startswith("html")]
    assert "</testcase>" not in MarkdownIt("commonmark").enable("table").render(text)
    assert "ignored: **FSE114 shared-expert-excluded**, layers 3-60: known (until 2027-01-01)" in text


def test_people_are_told_what_was_ignored() -> None:
    assert "  ignored FSE114 shared-expert-excluded: known (until 2027-01-01)\n" in written("table", everything()[0])
