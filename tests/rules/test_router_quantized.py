"""FSE136: routers with scales, as the headers tell."""

import pytest

from tests.models import DEEPSEEK, FP8_BLOCK
from tests.rules.cases import of, only
from tests.rules.stored import blocks, found, plain, tensors
from tests.safetensors_files import Entry

RULE = "FSE136"
SOUND = tensors(blocks, blocks)


def router(name: str, *leaves: str) -> dict[str, Entry]:
    return {f"model.layers.{layer}.mlp.{name}.{leaf}": ("I32", (8, 256)) for layer in (3, 4) for leaf in leaves}


@pytest.mark.parametrize(
    ("name", "leaves"),
    [
        ("gate", ("qweight", "scales", "qzeros")),
        ("gate", ("weight", "weight_scale_inv")),
        ("shared_expert_gate", ("weight_packed",)),
    ],
)
def test_scales_of_routers(name: str, leaves: tuple[str, ...]) -> None:
    finding = only(found({**SOUND, **router(name, *leaves)}, FP8_BLOCK), RULE)
    assert (finding.severity, finding.confidence) == ("warning", "likely")
    assert finding.message.startswith(
        f"2 routers or gates of shared experts are stored quantized, as model.layers.3.mlp.{name}."
    )
    assert finding.evidence[0].startswith(f"model.safetensors: model.layers.3.mlp.{name}.")


@pytest.mark.parametrize(
    "more",
    [
        {},
        router("gate", "weight", "e_score_correction_bias"),
        router("gate_proj", "weight", "weight_scale_inv"),
        router("shared_expert_gate", "weight"),
    ],
)
def test_routers_in_16_bits_are_left_alone(more: dict[str, Entry]) -> None:
    assert of(found({**SOUND, **more}, FP8_BLOCK), RULE) == []


def test_without_headers_it_is_silent() -> None:
    from tests.models import asked

    assert of(asked(FP8_BLOCK, DEEPSEEK), RULE) == []
    assert of(found(tensors(plain, plain), None), RULE) == []
