"""Plain words: each thing that a release says has an explanation of its own, and the right one is found."""

import re

import pytest

from fse_core import releases
from fse_core.families.deepseek_v4_modes import decided
from fse_core.families.glm5_next import FAMILY as GLM5_NEXT
from fse_core.read.source import model_from_dict
from fse_core.target import Target
from service.pages import explain

VERSIONS = releases.known()


@pytest.mark.parametrize("version", VERSIONS)
def test_every_word_of_a_release_has_an_entry_and_finds_it(version: str) -> None:
    words = releases.load(version).words
    have = {name: entry for section, name, entry in explain.entries() if section == "reasons"}
    assert set(words) <= set(have)
    for name, text in words.items():
        said = re.sub(r"\{(\w+)\}(?!')", r"<\1>", text)
        expected = have[name]["because"]
        found = explain.error("ValueError", said, version)
        assert re.sub(r"<(\w+)>", r"{\1}", found.because) == expected, name


def test_each_entry_is_for_a_word_of_some_release() -> None:
    said = {name for version in VERSIONS for name in releases.load(version).words}
    assert said == {name for section, name, _ in explain.entries() if section == "reasons"}


def test_entries_are_whole_sentences() -> None:
    for section, name, entry in explain.entries():
        assert entry["plain"].endswith("."), (section, name)
        assert entry["change"] == "" or entry["change"].endswith("."), (section, name)
        assert not entry["because"].endswith("."), (section, name)
        assert ("match" in entry) == (section in ("declines", "errors")), (section, name)


def test_what_the_release_names_is_filled_in() -> None:
    said = "shared-expert FSE quantization compatibility is not implemented for CompressedTensorsConfig"
    assert "read by CompressedTensorsConfig." in explain.reason(said, "latest").plain


def test_braces_that_are_no_field_stay() -> None:
    said = "online quantization targets only part of the shared expert at model.layers.3.mlp.shared_experts"
    assert '{"targets": {"*shared_expert*": "mxfp4"}}' in explain.reason(said, "latest").change


def test_each_thing_that_a_class_logs_as_it_declines_is_explained() -> None:
    config = {"architectures": ["Glm5NextForCausalLM"], "model_type": "glm5_next", "num_hidden_layers": 5}
    target = Target(gfx="gfx942", tp=2, dp=2, pcp=2, ep=True)
    (part, *_) = GLM5_NEXT.parts(model_from_dict(config), target, releases.load("latest"))
    assert len(part.declines) == 5
    changes = {explain.reason(words, "latest").change for words in part.declines}
    assert len(changes) == 5
    together = explain.reason("; ".join(part.declines), "latest")
    assert all(change in together.change for change in changes)
    assert together.because == "AITER has no tuned kernels for this model in this set-up"


def test_the_errors_of_deepseek_v4_are_explained() -> None:
    config = {"architectures": ["DeepseekV4ForCausalLM"], "model_type": "deepseek_v4", "n_shared_experts": 1}
    from fse_core.families.deepseek_v4 import FAMILY

    model = model_from_dict({**config, "num_hidden_layers": 2, "n_routed_experts": 8})
    (part, *_) = FAMILY.parts(model, Target(dp=2), releases.load("latest"))
    assert part.startup is not None
    assert "data parallel" in explain.error(part.startup.type, part.startup.message, "latest").because
    mega = decided(part, model, "fp4", Target(moe_backend="aiter_mega_moe"), releases.load("latest"))
    assert mega.on_layer is not None
    assert "MegaMoE" in explain.error(mega.on_layer.type, mega.on_layer.message, "latest").because


@pytest.mark.parametrize(
    ("type", "message", "words"),
    [
        ("ValueError", "Detected some but not all shards of a.b are quantized. All shards", "only a part"),
        ("ValueError", "Found different quantization schemes for the shards of a.b. vLLM", "different formats"),
        ("RuntimeError", "Unsupported FusedMoe scheme", "Quark scheme"),
        ("AssertionError", "", "quantized checkpoint"),
        ("ValidationError", "1 validation error for VllmConfig\n  Value error, x", "quantization block"),
        ("ValidationError", "1 validation error for QuantizationConfigArgs\nlinear\n  x", "--quantization-config"),
        ("KeyError", "'anything else'", "raises an error"),
    ],
)
def test_errors(type: str, message: str, words: str) -> None:
    assert words in explain.error(type, message, "latest").because
