"""A number that the class reads stands in the config under another name, or under two names and not alike.

Families call the same thing differently: `n_routed_experts`, `num_experts` and `num_local_experts`, or
`num_experts_per_tok` and `moe_top_k`. A class reads its own name; where that is not there, its config class fills in a
default without a word, unless it knows the other name too. The shapes in the tensors' headers settle it.
"""

from collections.abc import Iterator, Mapping

from fse_core.rules.base import Facts, Hit, Rule

RULE = Rule(id="FSE135", name="field-alias", severity="warning", confidence="likely")

_ROUTED = ("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts")
_SHARED = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts")
_CHOSEN = ("num_experts_per_tok", "num_experts_per_token", "moe_top_k", "moe_k", "top_k_experts")
_SHARED_WIDTH = ("shared_expert_intermediate_size", "share_expert_dim", "moe_shared_expert_intermediate_size")


def _first(name: str, names: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    return name, tuple(other for other in names if other != name)


_DEEPSEEK = dict(
    (_first("n_routed_experts", _ROUTED), _first("n_shared_experts", _SHARED), _first(_CHOSEN[0], _CHOSEN))
)
_QWEN = dict((_first("num_experts", _ROUTED), _first(_SHARED_WIDTH[0], _SHARED_WIDTH), _first(_CHOSEN[0], _CHOSEN)))
_READS: tuple[tuple[str, Mapping[str, tuple[str, ...]]], ...] = (
    ("Deepseek", _DEEPSEEK),
    ("Glm4Moe", _DEEPSEEK),
    ("GlmMoeDsa", _DEEPSEEK),
    ("AXK1", _DEEPSEEK),
    ("Qwen3Next", _QWEN),
    ("Qwen3_5Moe", _QWEN),
)
"""How architectures begin, what their classes read, and what others call it."""


def check(facts: Facts) -> Iterator[Hit]:
    """One hit for each number."""
    architecture = facts.model.architecture or ""
    reads = next((keys for start, keys in _READS if architecture.startswith(start)), {})
    text = facts.model.text
    for key, others in reads.items():
        own = text.get(key)
        for other in others:
            value = text.get(other)
            if isinstance(value, int) and (own is None or (isinstance(own, int) and own != value)):
                yield _hit(facts, key, own, other, value)


def _hit(facts: Facts, key: str, own: object, other: str, value: int) -> Hit:
    text = facts.model.text
    stands = f"{text.at(other)} is {value}, and {facts.model.architecture} reads {key}"
    then = f", which is {own}" if own is not None else ", which is not there: its default counts"
    return Hit(
        message=f"{stands}{then}, unless its config class knows both names.",
        consequence="none",
        evidence=(f"{text.at(other)}: {value}", *((f"{text.at(key)}: {own}",) if own is not None else ())),
    )
