"""What a sample of the headers tells: for certain where no unread tensor could change it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from fse_core import Report, Target, check
from fse_core.read.safetensors.facts import File, Headers, Tensor
from fse_core.read.source import model_from_dict
from fse_core.report import Finding
from tests.models import DEEPSEEK, FP8_BLOCK, QUARK_MXFP4
from tests.rules.stored import blocks, mxfp4, plain, tensors, without
from tests.safetensors_files import Entry

LISTED = {**FP8_BLOCK, "modules_to_not_convert": [f"model.layers.{n}.mlp.shared_experts" for n in (3, 4)]}
READ = ("layers.3.mlp.experts.0.", "layers.3.mlp.shared_experts.")


def sampled(
    entries: Mapping[str, Entry],
    quantization: dict[str, Any] | None,
    *,
    listed: Iterable[str] | None = (),
    anchored: bool = True,
    **target: Any,
) -> Report:
    """The report where one routed and the shared expert of layer 3 were read, each from a file of its own. `listed`
    are the names of the index where these are others than those of the tensors, None where there is no index.
    """
    place = {name: name.partition(".mlp.")[0] + name.partition(".mlp.")[2].rpartition(".")[0] for name in entries}
    read = {name: entry for name, entry in entries.items() if any(part in name for part in READ)}
    made = {
        name: Tensor(name=name, dtype=dtype, shape=shape, file=place[name]) for name, (dtype, shape) in read.items()
    }
    index = None if listed is None else {name: place.get(name, "unread") for name in listed or entries}
    files = {tensor.file: File(name=tensor.file, size=1, tensors=1, metadata={}) for tensor in made.values()}
    headers = Headers(tensors=made, files=files, complete=False, listed=index, anchored=anchored)
    block = {} if quantization is None else {"quantization_config": quantization}
    model = replace(model_from_dict({**DEEPSEEK, **block}), headers=headers)
    return check(model, Target(**{"gfx": "gfx950", "draft": False, **target}))


def one(report: Report) -> Finding:
    (finding,) = [finding for finding in report.findings if finding.consequence in ("load_fails", "silent_corruption")]
    return finding


@pytest.mark.parametrize("index", [True, False])
def test_what_fits_is_left_alone(index: bool) -> None:
    report = sampled(tensors(blocks, blocks), FP8_BLOCK, listed=() if index else None)
    assert report.verdict == "fuses"
    assert not [finding for finding in report.findings if finding.severity == "error"]


def test_a_tensor_that_is_refused_is_certain() -> None:
    report = sampled(tensors(mxfp4, plain), QUARK_MXFP4)
    finding = one(report)
    assert (report.verdict, finding.rule, finding.confidence) == ("breaks", "FSE102", "certain")
    assert (finding.consequence, finding.layers) == ("load_fails", "3-4")
    assert finding.message.startswith("Layers 3-4 (2) (layer 3 read): ")


def test_not_where_its_file_may_not_be_loaded() -> None:
    assert one(sampled(tensors(mxfp4, plain), QUARK_MXFP4, listed=None, anchored=False)).confidence == "likely"


def test_what_lacks_may_be_in_a_file_that_was_not_read() -> None:
    finding = one(sampled(tensors(blocks, plain), FP8_BLOCK))
    assert (finding.rule, finding.confidence, finding.consequence) == ("FSE102", "likely", "silent_corruption")


def test_what_the_config_says_as_well_is_certain() -> None:
    finding = one(sampled(tensors(blocks, plain), LISTED, vllm="0.28.0"))
    assert (finding.rule, finding.confidence, finding.consequence) == ("FSE101", "certain", "silent_corruption")


def test_a_config_that_is_not_true_is_not_believed_of_layers_that_were_not_read() -> None:
    report = sampled(tensors(blocks, blocks), LISTED, vllm="0.28.0")
    assert not [finding for finding in report.findings if finding.severity == "error"]


@pytest.mark.parametrize(
    ("gone", "rule", "layers"),
    [
        ("layers.4.mlp.experts.5.", "FSE130", "4"),
        ("layers.4.mlp.experts.5.up_proj.weight_scale_inv", "FSE115", "4"),
        ("layers.3.mlp.experts.5.", "FSE130", "3"),
        ("shared_experts.down_proj.weight_scale_inv", "FSE115", "3-4"),
    ],
)
def test_what_the_index_does_not_name_is_likely_not_there(gone: str, rule: str, layers: str) -> None:
    finding = one(sampled(without(tensors(blocks, blocks), gone), FP8_BLOCK))
    assert (finding.rule, finding.layers, finding.confidence) == (rule, layers, "likely")


def test_without_an_index_nothing_is_said_of_experts_that_were_not_read() -> None:
    report = sampled(without(tensors(blocks, blocks), "experts.5."), FP8_BLOCK, listed=None)
    assert not [finding for finding in report.findings if finding.severity == "error"]


def test_an_expert_read_by_half_is_none() -> None:
    entries = without(tensors(blocks, plain), "experts.0.down_proj")
    report = sampled(entries, FP8_BLOCK, listed=None)
    assert not [finding for finding in report.findings if finding.severity == "error"]


def test_names_that_the_sample_has_nothing_like_leave_its_layer_to_stand_for_others() -> None:
    entries = tensors(blocks, plain)
    names = [*entries, "model.layers.4.mlp.experts.0.down_proj.odd_scale"]
    finding = one(sampled(entries, FP8_BLOCK, listed=names))
    assert (finding.layers, finding.confidence) == ("3-4", "likely")
