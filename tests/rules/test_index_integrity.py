"""FSE130: files, index and tensors that do not fit together. Measured on 0.24.0 to 0.33.0 where it is about experts."""

import pytest

from fse_core.read.safetensors.facts import Problem, ProblemKind
from fse_core.report import Finding
from tests.models import FP8_BLOCK
from tests.rules.cases import of, only
from tests.rules.stored import blocks, breaking, expert, found, plain, tensors, without

RULE = "FSE130"
WHOLE = tensors(plain, plain)


@pytest.mark.parametrize("version", ["0.24.0", "0.33.0"])
@pytest.mark.parametrize(
    ("parts", "layers", "left"),
    [
        (("layers.4.mlp.experts.5.",), "4", "w13_weight: 262144 of 2359296 bytes unset"),
        (("layers.3.mlp.experts.0.down_proj",), "3", "w2_weight: 131072 of 1179648 bytes unset"),
        (("shared_experts.down_proj",), "3-4", "w2_weight: 131072 of 1179648 bytes unset"),
        ((".shared_experts.",), "3-4", "w13_weight: 262144 of 2359296 bytes unset"),
    ],
)
def test_experts_that_are_not_there(version: str, parts: tuple[str, ...], layers: str, left: str) -> None:
    report = found(without(WHOLE, *parts), None, vllm=version)
    finding = only(report, RULE)
    assert (report.verdict, finding.consequence, finding.confidence) == ("breaks", "silent_corruption", "certain")
    assert (finding.layers, finding.evidence[0]) == (layers, left)


def test_a_routed_expert_too_many() -> None:
    report = found({**WHOLE, **expert("model.layers.4.mlp.experts.11", plain)}, None)
    finding = only(report, RULE)
    assert (finding.consequence, finding.layers) == ("load_fails", "4")
    assert "there is routed expert 11, and by the config there are fewer" in finding.message


def about(kind: ProblemKind, version: str = "0.33.0", *names: str, listed: bool = True) -> Finding | None:
    problem = Problem(kind=kind, file="model-00002-of-00002.safetensors", message="is odd", tensors=names, count=1)
    index = dict.fromkeys(WHOLE, "model.safetensors") if listed else None
    report = found(WHOLE, None, problems=(problem,), listed=index, vllm=version)
    return next(iter(of(report, RULE)), None)


def test_a_lost_file_ends_the_start_since_0_26_0() -> None:
    finding = about("missing_file")
    assert finding is not None
    assert (finding.consequence, finding.confidence, finding.layers) == ("load_fails", "certain", "3-4")


@pytest.mark.parametrize(("version", "listed"), [("0.25.0", True), ("0.33.0", False)])
def test_a_lost_file_that_nothing_misses(version: str, listed: bool) -> None:
    finding = about("missing_file", version, listed=listed)
    assert finding is not None
    assert (finding.severity, finding.consequence) == ("error", "none")


def test_a_file_that_cannot_be_read() -> None:
    finding = about("unreadable_file")
    assert finding is not None
    assert (finding.severity, finding.consequence, finding.confidence) == ("error", "load_fails", "certain")


def test_what_the_index_promises_of_other_modules() -> None:
    finding = about("missing_tensor", "0.33.0", "model.norm.weight")
    assert finding is not None
    assert (finding.severity, finding.consequence, finding.confidence) == ("warning", "silent_corruption", "likely")


@pytest.mark.parametrize("kind", ["stray_file", "unlisted_tensor", "misplaced_tensor", "doubled_tensor"])
def test_what_does_no_harm_to_what_is_loaded(kind: ProblemKind) -> None:
    finding = about(kind)
    assert finding is not None
    assert (finding.consequence, finding.severity in ("info", "warning")) == ("none", True)


@pytest.mark.parametrize("kind", ["total_size", "metadata"])
def test_what_no_reader_looks_at_is_left_alone(kind: ProblemKind) -> None:
    assert about(kind) is None


def test_experts_that_the_index_promises_are_told_of_once() -> None:
    name = "model.layers.3.mlp.shared_experts.down_proj.weight"
    problem = Problem(kind="missing_tensor", file="model.safetensors", message="lacks one", tensors=(name,), count=1)
    assert only(found(without(WHOLE, name), None, problems=(problem,)), RULE).layers == "3"


@pytest.mark.parametrize(("entries", "block"), [(WHOLE, None), (tensors(blocks, blocks), FP8_BLOCK)])
def test_a_whole_checkpoint_is_left_alone(entries: dict[str, tuple[str, tuple[int, ...]]], block: None) -> None:
    assert breaking(found(entries, block)) == []


def test_a_layer_of_which_nothing_is_there_is_not_judged() -> None:
    assert of(found(without(WHOLE, "layers.4."), None), RULE) == []


def test_headers_that_were_not_all_read_prove_nothing_missing() -> None:
    assert breaking(found(without(WHOLE, ".shared_experts."), None, complete=False)) == []


@pytest.mark.parametrize("names", [("model.norm.weight",), (), ("layers.0.mlp.experts.0.w1.weight", "blocks.3.ffn.w1")])
@pytest.mark.parametrize("complete", [True, False])
def test_headers_that_tell_of_no_layer_are_no_clean_bill(names: tuple[str, ...], complete: bool) -> None:
    report = found(dict.fromkeys(names, ("BF16", (256, 256))), None, complete=complete)
    finding = only(report, RULE)
    assert (finding.severity, finding.confidence, finding.layers) == ("warning", "likely", "3-4")
    assert "shows no expert of its layers by a name that is known here" in finding.message
    assert f"tensors: {len(names)})" in finding.message
    assert report.verdict == "fuses"


def test_no_file_is_told_once() -> None:
    finding = only(found({}, None, problems=(Problem(kind="no_files", file="", message="there is none"),)), RULE)
    assert finding.message.startswith("There is no safetensors file, and so nothing was compared. Loading ends")


def test_a_checkpoint_of_which_one_layer_is_there_was_compared() -> None:
    assert not of(found(without(WHOLE, "layers.4."), None), RULE)
