"""Releases that fixes propose: the model was asked about on each, and none is worse for it."""

from collections.abc import Mapping

import pytest

from fse_core import releases
from fse_core.releases.release import Fault, Release
from fse_core.report import Finding
from tests.models import DEEPSEEK, FP8_BLOCK, asked
from tests.rules.cases import GLM_4_7_FLASH, QWEN3_5, only

CLASSES = frozenset(("DeepseekV3ForCausalLM", "DeepSeekMTP", "Glm4MoeLiteForCausalLM"))
OWN = Fault(text="One.", source="read", classes=CLASSES, consequence="load_fails", confidence="likely", part="target")
OTHER = Fault(text="Two.", source="read", classes=CLASSES, consequence="load_fails", confidence="certain")


def given(monkeypatch: pytest.MonkeyPatch, faults: Mapping[str, Mapping[str, Fault]]) -> None:
    """These faults and no others, by release."""
    real = releases.load

    def load(version: str) -> Release:
        release = real(version)
        data = {name: getattr(release, name) for name in release.__dataclass_fields__}
        return Release(**{**data, "faults": faults.get(release.version, {})})

    monkeypatch.setattr(releases, "load", load)


def proposed(finding: Finding) -> list[str]:
    return [fix.patch["vllm"] for fix in finding.fixes if fix.kind == "release"]


def test_the_first_release_that_is_no_worse_is_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, {"0.29.0": {"one": OWN}, "0.30.0": {"two": OTHER}, "0.31.0": {"two": OTHER}})
    finding = only(asked(FP8_BLOCK, vllm="0.29.0", draft=False), "FSE150")
    assert proposed(finding) == ["0.32.0"]
    assert finding.fixes[-1].summary == "use vLLM 0.32.0, which does not have it"


def test_no_release_is_proposed_where_all_are_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    later = releases.known()[releases.known().index("0.30.0") :]
    given(monkeypatch, {"0.29.0": {"one": OWN}, **{name: {"two": OTHER} for name in later}})
    finding = only(asked(FP8_BLOCK, vllm="0.29.0", draft=False), "FSE150")
    assert [fix.kind for fix in finding.fixes] == ["env"]


def test_a_release_on_which_the_draft_breaks_is_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    draft = Fault(text="Two.", source="read", classes=CLASSES, consequence="load_fails", part="draft")
    given(monkeypatch, {"0.29.0": {"one": OWN}, "0.30.0": {"two": draft}})
    assert proposed(only(asked(FP8_BLOCK, vllm="0.29.0"), "FSE150")) == ["0.31.0"]
    given(monkeypatch, {"0.29.0": {"one": OWN, "two": draft}, "0.30.0": {"two": draft}})
    assert proposed(only(asked(FP8_BLOCK, vllm="0.29.0"), "FSE150")) == ["0.30.0"], "no worse than here"


def test_a_class_is_sent_where_it_fuses_and_does_not_break(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, {"0.25.0": {"two": OTHER}})
    finding = only(asked(None, GLM_4_7_FLASH, vllm="0.24.0", draft=False), "FSE120")
    assert proposed(finding) == ["0.25.1"]
    assert finding.fixes[0].summary == "use vLLM 0.25.1, which has fusion for Glm4MoeLiteForCausalLM"


def test_no_release_is_proposed_where_fusion_breaks_the_class_on_each() -> None:
    """From 0.25.0 to 0.28.0 nothing asks, and the gates after that do not take the entry."""
    listed = {**FP8_BLOCK, "modules_to_not_convert": ["shared_experts"]}
    assert proposed(only(asked(listed, GLM_4_7_FLASH, vllm="0.24.0", draft=False), "FSE120")) == []


def test_what_faults_of_real_releases_make_of_it() -> None:
    wrapped = {
        "architectures": ["Qwen3_5MoeForConditionalGeneration"],
        "model_type": "qwen3_5_moe",
        "text_config": {**QWEN3_5, "architectures": None},
    }
    report = asked(None, wrapped, vllm="0.18.0", draft=False)
    (version,) = proposed(only(report, "FSE120"))
    after = asked(None, wrapped, vllm=version, draft=False)
    assert (after.verdict, [one for one in after.findings if one.severity == "error"]) == ("fuses", [])


def test_the_release_that_answers_for_an_unknown_one_is_named_whatever_it_does() -> None:
    report = asked({**FP8_BLOCK, "modules_to_not_convert": ["shared_experts"]}, DEEPSEEK, vllm="0.28.0.dev1")
    assert report.verdict == "breaks"
    assert len(proposed(only(report, "FSE151"))) == 1
