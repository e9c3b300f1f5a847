"""Dots3-Note and its draft layers: the class hides the shared experts from the fusing MoE class and adds them itself.

Source: vllm/models/dots3_note/nvidia/model.py:111,124,536, nvidia/multimodal.py:155 and nvidia/mtp.py:53 at 0.33.0.
"""

from collections.abc import Iterable

from fse_core.families.base import Family, Part
from fse_core.families.never_fuse import hidden_layers, moe_layers, next_layers, separate, with_draft
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release
from fse_core.target import Target


def _built(text: Fields, indices: Iterable[int]) -> list[int]:
    if "n_routed_experts" in text and text.get("n_routed_experts") is None:
        return []
    dense = text.integer("first_k_dense_replace", 3)
    every = text.integer("moe_layer_freq", 1, least=1)
    return [i for i in indices if i >= dense and i % every == 0]


def _parts(model: Model, target: Target, release: Release) -> tuple[Part, ...]:
    text = model.text
    drafted = next_layers(text, text.integer("num_nextn_predict_layers", 1))
    return with_draft(
        separate(
            "Dots3NoteForCausalLM",
            moe_layers("language_model.model.layers.{i}.mlp", _built(text, hidden_layers(text))),
        ),
        separate("Dots3NoteMTP", moe_layers("model.layers.{i}.mlp", _built(text, drafted)), "draft"),
        target.draft,
    )


FAMILY = Family(name="dots3_note", architectures={"Dots3NoteForCausalLM": "Dots3NoteForCausalLM"}, parts=_parts)
