"""A router, or the gate of a shared expert, is stored quantized.

Routers are small and decide which experts are asked: producers leave them in 16 bits, and the classes that fuse build
them so, whatever the quantization block says. A router with scales was quantized by oversight, as by a tool whose list
of exceptions holds the head alone: its scales find no parameter, and the numbers without them choose wrong experts.

Only the headers of the safetensors files show it: this rule is silent without `--headers`.
"""

import re
from collections.abc import Iterator

from fse_core.rules.base import Facts, Hit, Rule

RULE = Rule(id="FSE136", name="router-quantized", severity="warning", confidence="likely")

_SHOWN = 3


def check(facts: Facts) -> Iterator[Hit]:
    """One hit for all routers."""
    headers = facts.model.headers
    if headers is None:
        return
    scaled = re.compile(
        r"(.*\.(?:mlp|ffn|block_sparse_moe)\.(?:gate|router|shared_expert_gate))"
        r"\.(?:qweight|qzeros|scales|weight_packed|weight_scale\w*|scale)"
    )
    found = {match[1]: name for name in headers.tensors if (match := scaled.fullmatch(name))}
    if found:
        yield Hit(
            message=f"{len(found)} routers or gates of shared experts are stored quantized, as {next(iter(found))}. "
            "The classes that fuse build them in 16 bits: loading fails, or the wrong experts are chosen.",
            consequence="none",
            evidence=tuple(f"{headers.tensors[name].file}: {name}" for name in list(found.values())[:_SHOWN]),
        )
