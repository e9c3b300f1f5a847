"""Lists of modules that are left out: what is removed, what stays, and how it is said."""

import fnmatch
import re

import pytest

from fse_core.convert.dialects import DIALECTS, Modules

MLP = "model.language_model.layers.{}.mlp"
LAYERS = range(2)
SHARED = [f"{MLP.format(i)}.shared_expert.{leaf}" for i in LAYERS for leaf in ("gate_proj", "up_proj", "down_proj")]
GATES = [f"{MLP.format(i)}.shared_expert_gate" for i in LAYERS]
ROUTERS = [f"{MLP.format(i)}.gate" for i in LAYERS]
DRAFT = [f"mtp.layers.0.mlp.shared_expert.{leaf}" for leaf in ("gate_proj", "up_proj", "down_proj")]
DRAFT_GATE = "mtp.layers.0.mlp.shared_expert_gate"


def rename(name: str) -> str:
    return name.replace("model.language_model.", "language_model.model.")


def modules(*more: str) -> Modules:
    return Modules(converted=frozenset(SHARED), full=frozenset([*GATES, *ROUTERS, "lm_head", *more]), rename=rename)


def changed(class_name: str, entries: list[str], *more: str) -> list[str]:
    return [new for one in DIALECTS[class_name].changed(entries, modules(*more)) for new in one]


@pytest.mark.parametrize("class_name", sorted(DIALECTS))
@pytest.mark.parametrize(
    "entries",
    [
        SHARED,
        [rename(name) for name in SHARED],
        [f"{MLP.format(i)}.shared_expert" for i in LAYERS],
        ["*.mlp.shared_expert.*"],
        ["re:.*shared_expert\\..*"],
        [f"{rename(MLP.format(i))}.shared_expert.{leaf}" for i in LAYERS for leaf in ("gate_up_proj", "down_proj")],
    ],
)
def test_whatever_names_them_goes(class_name: str, entries: list[str]) -> None:
    # To ModelOpt's reader the gate's name contains the expert's.
    gates = GATES if class_name.startswith("ModelOpt") and entries[0].endswith("shared_expert") else []
    assert changed(class_name, ["lm_head", *entries, *ROUTERS]) == ["lm_head", *gates, *ROUTERS]


@pytest.mark.parametrize("class_name", ["Fp8Config", "ModelOptMxFp8Config"])
def test_what_else_an_entry_took_out_is_listed(class_name: str) -> None:
    assert changed(class_name, ["*shared_expert*", "lm_head"]) == [*GATES, "lm_head"]
    assert changed(class_name, ["*shared_expert*", GATES[0]]) == [GATES[1], GATES[0]]


def test_an_entry_of_modelopt_takes_out_whatever_contains_it() -> None:
    assert changed("ModelOptMxFp8Config", ["mlp.shared_expert.", "lm_head"]) == ["lm_head"]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (["re:.*shared_expert.*"], [r"re:.*\.mlp\.shared.expert_gate$"]),
        (GATES, [r"re:.*\.mlp\.shared.expert_gate$"]),
        (GATES[:1], [r"re:(?!mtp\.).*layers\.(0)\.mlp\.shared.expert_gate$"]),
        (
            ["*shared_expert*", "re:.*shared_expert_gate"],
            ["re:.*shared.expert_gate", r"re:.*\.mlp\.shared.expert_gate$"],
        ),
        (["re:.*shared_expert_gate.*"], ["re:.*shared.expert_gate.*"]),
        (["*shared_expert_gate"], [r"re:.*shared.expert_gate$"]),
    ],
)
def test_quark_never_says_shared_expert(entries: list[str], expected: list[str]) -> None:
    found = changed("QuarkConfig", [*entries, "lm_head"])
    assert not any("shared_expert" in entry for entry in found)
    assert found == [*expected, "lm_head"]
    patterns = [re.compile(entry[3:]) for entry in found if entry.startswith("re:")]
    assert any(pattern.match(rename(GATES[0])) for pattern in patterns)
    for name in SHARED:
        assert not any(pattern.match(rename(name)) for pattern in patterns)


def test_quark_keeps_a_draft_out_that_stays_in_full_precision() -> None:
    found = changed("QuarkConfig", ["re:.*shared_expert.*"], *DRAFT, DRAFT_GATE)
    patterns = [re.compile(entry[3:]) for entry in found]
    for name in (*DRAFT, DRAFT_GATE, *GATES):
        assert any(pattern.match(rename(name)) for pattern in patterns), name
    for name in SHARED:
        assert not any(pattern.match(rename(name)) for pattern in patterns), name
    assert not any("shared_expert" in entry for entry in found)


def test_quark_keeps_one_layer_apart_from_another() -> None:
    third = f"{MLP.format(12)}.shared_expert.gate_proj"
    found = changed("QuarkConfig", ["re:.*shared_expert\\..*"], third)
    assert found == [r"re:(?!mtp\.).*layers\.(12)\.mlp\.shared.expert\.gate_proj$"]
    assert re.match(found[0][3:], rename(third))
    assert not any(re.match(found[0][3:], rename(name)) for name in SHARED)


@pytest.mark.parametrize(
    ("entry", "pattern", "hit"),
    [
        ("*.layers.[01].mlp.shared_expert_gate", r"re:.*\.layers\.[01]\.mlp\.shared.expert_gate$", "01"),
        ("*.layers.[!0].mlp.shared_expert_gate", r"re:.*\.layers\.[^0]\.mlp\.shared.expert_gate$", "12"),
        ("*.layers.[0-1].mlp.shared_expert_gat?", r"re:.*\.layers\.[0-1]\.mlp\.shared.expert_gat.$", "01"),
    ],
)
def test_a_class_of_a_shell_pattern_keeps_its_meaning(entry: str, pattern: str, hit: str) -> None:
    assert changed("QuarkConfig", [entry]) == [pattern]
    for layer in "012":
        found = re.match(pattern[3:], f"language_model.model.layers.{layer}.mlp.shared_expert_gate")
        assert (found is not None) == (layer in hit)


@pytest.mark.parametrize("entry", ["[shared_expert_gate", "*[]]shared_expert_gate", "*[z-a]shared_expert_gate"])
def test_an_odd_shell_pattern_means_what_it_meant(entry: str) -> None:
    (found,) = changed("QuarkConfig", [entry])
    for name in ("[shared_expert_gate", "mlp]shared_expert_gate", "mlp.shared_expert_gate"):
        assert (re.match(found[3:], name) is not None) == fnmatch.fnmatchcase(name, entry)
