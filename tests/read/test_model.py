"""Which parts of the files are the language model's config and the quantization block."""

from typing import Any

import pytest

from fse_core.errors import InputError
from fse_core.read.source import model_from_dict

TOP = {"quant_method": "top"}
TEXT = {"quant_method": "text"}
FILE = {"quant_method": "file"}
COMPRESSION = {"quant_method": "compression"}


@pytest.mark.parametrize("nested", ["text_config", "language_config", "llm_config"])
def test_precedence_of_quantization_blocks(nested: str) -> None:
    config: dict[str, Any] = {
        "quantization_config": TOP,
        nested: {"quantization_config": TEXT},
        "compression_config": COMPRESSION,
    }

    def block(hf_quant_config: dict[str, Any] | None) -> tuple[str, str, bool, bool]:
        found = model_from_dict(config, hf_quant_config).quantization
        assert found is not None
        return found.fields.string("quant_method"), found.file, found.in_text, found.compression

    assert block(FILE) == ("top", "config.json", False, False)
    config["quantization_config"] = None
    assert block(FILE) == ("file", "hf_quant_config.json", False, False)
    assert block(None) == ("text", "config.json", True, False)
    config[nested] = {}
    assert block(None) == ("compression", "config.json", False, True)


def test_no_quantization() -> None:
    assert model_from_dict({"text_config": None}).quantization is None


def test_an_empty_block_is_a_block() -> None:
    """The release asks whether the key is null, not whether the object holds anything."""
    found = model_from_dict({"quantization_config": {}}, FILE).quantization
    assert found is not None
    assert found.fields.raw == {}


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"quantization_config": "fp8"}, "quantization_config"),
        ({"text_config": {"quantization_config": []}}, "text_config.quantization_config"),
        ({"text_config": 3}, "text_config"),
        ({"compression_config": 3}, "compression_config"),
        ({"text_config": {"compression_config": {}}}, "text_config.compression_config"),
    ],
)
def test_blocks_that_are_no_objects(config: dict[str, Any], path: str) -> None:
    with pytest.raises(InputError) as caught:
        _ = model_from_dict(config).quantization
    assert caught.value.path == path


def test_text_config_goes_first() -> None:
    config = {"llm_config": {"a": 1}, "language_config": {"a": 2}, "text_config": {"a": 3}}
    assert model_from_dict(config).text.integer("a") == 3
    assert model_from_dict({**config, "text_config": None}).text.integer("a") == 2
    assert model_from_dict({"a": 4}).text.integer("a") == 4


def test_architecture() -> None:
    assert model_from_dict({"architectures": ["A", "B"]}).require_architecture() == "A"
    config: dict[str, Any]
    for config in ({}, {"architectures": None}, {"architectures": []}):
        assert model_from_dict(config).architecture is None
        with pytest.raises(InputError, match="architectures"):
            model_from_dict(config).require_architecture()
    with pytest.raises(InputError, match=r"architectures\[0\]"):
        _ = model_from_dict({"architectures": [1]}).architecture
