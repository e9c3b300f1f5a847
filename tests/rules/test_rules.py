"""How rules are found and run: ids, order, and what is done where a rule cannot read the config."""

import re
from collections.abc import Iterator

import pytest

from fse_core import rules
from fse_core.errors import InputError, OutOfTime, ReleaseRaises, Undecided
from fse_core.rules.base import Facts, Hit, Rule
from tests.models import DEEPSEEK, FP8_BLOCK, asked
from tests.rules.cases import QWEN3_NEXT, shared


def test_every_rule_has_a_stable_id_a_name_and_a_text() -> None:
    found = rules.known()
    ids = [one.rule.id for one in found]
    assert ids == sorted(set(ids))
    assert {"FSE101", "FSE103", "FSE108", "FSE114", "FSE117", "FSE150", "FSE151"} <= set(ids)
    for one in found:
        assert re.fullmatch(r"FSE1\d\d", one.rule.id)
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+", one.rule.name)
        assert one.check.__module__.endswith(one.rule.name.replace("-", "_")) or one.rule.name in one.check.__module__
        assert len(one.text.splitlines()) >= 3


def test_the_worst_comes_first_and_the_target_before_the_draft() -> None:
    listed = {**FP8_BLOCK, "ignored_layers": shared(3, 4, 5)}
    report = asked(listed, vllm="0.28.0.dev1")
    assert [(one.rule, one.severity, one.part) for one in report.findings] == [
        ("FSE101", "error", "target"),
        ("FSE101", "error", "draft"),
        ("FSE151", "warning", None),
    ]


def test_layers_carry_the_ids_of_what_is_said_of_them() -> None:
    narrow = {**QWEN3_NEXT, "shared_expert_intermediate_size": 256, "num_hidden_layers": 3}
    report = asked({**FP8_BLOCK, "ignored_layers": shared(1, name="shared_expert")}, narrow, vllm="0.28.0", draft=False)
    assert [layer.findings for layer in report.layers] == [("FSE117",), ("FSE101", "FSE117"), ("FSE117",)]
    assert [one.layers for one in report.findings] == ["1", "0-2"]


def test_a_start_that_fails_stays_one() -> None:
    report = asked({**FP8_BLOCK, "ignored_layers": ["model.layers.3.mlp.shared_experts", *shared(4)]})
    assert report.verdict == "fails"


def with_rule(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def check(facts: Facts) -> Iterator[Hit]:
        yield Hit(message="one", consequence="none")
        if facts.parts:
            raise error

    one = rules.Known(rule=Rule(id="FSE199", name="made-up"), text="", check=check)
    monkeypatch.setattr(rules, "known", lambda: (one,))


@pytest.mark.parametrize("error", [InputError("a", "is odd"), ReleaseRaises("ValueError", "no"), Undecided("x")])
def test_a_rule_that_cannot_read_says_nothing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    with_rule(monkeypatch, error)
    report = asked(None, DEEPSEEK)
    assert (report.verdict, report.findings) == ("fuses", ())


def test_a_rule_that_runs_out_of_time_leaves_all_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    with_rule(monkeypatch, OutOfTime("too long"))
    report = asked(None, DEEPSEEK)
    assert (report.verdict, report.out_of_time) == ("undecided", True)
    assert report.layers == ()
