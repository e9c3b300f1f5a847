"""Step3, alone and multimodal: the shared expert is a sibling of the MoE module.

Source: vllm/model_executor/models/step3_text.py:249,260 and step3_vl.py:562 at 0.33.0; the layers of a config without
`moe_layers_enum` are its config class's.
"""

from fse_core.errors import InputError
from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, require_inner, separate
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target

_CLASSES = {
    "Step3TextForCausalLM": "Step3TextForCausalLM",
    "Step3VLForConditionalGeneration": "Step3VLForConditionalGeneration",
}


def enumerated(text: Fields, key: str) -> list[int] | None:
    """The numbers of a comma-separated string or of a list, None where the key is absent."""
    value = text.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        return text.integers(key)
    try:
        return [int(item) for item in value.split(",") if item.strip()]
    except ValueError:
        raise InputError(text.at(key), f"expected integers and commas, got {value!r}") from None


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    architecture = model.require_architecture()
    root = "language_model." if architecture == "Step3VLForConditionalGeneration" else ""
    if root:
        require_inner(architecture, model.text, "Step3TextForCausalLM")
    named = enumerated(model.text, "moe_layers_enum")
    sparse = set(range(4, 60) if named is None else named)
    indices = [i for i in hidden_layers(model.text) if i in sparse]
    layers = moe_layers(f"{root}model.layers.{{i}}", indices, "share_expert", "moe.experts")
    return (separate(_CLASSES[architecture], layers),)


FAMILY = Family(name="step3_text", architectures=_CLASSES, parts=_parts)
