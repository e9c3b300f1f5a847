"""Shared experts quantized while loading: every release's slots against those of the release that does it itself."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.checkpoints.tiny import Tiny
from conformance.plugin.ask import Start
from conformance.questions import WIDTH, Question, loadable
from fse_core import releases

SIZES = (1, 2)
CLASSES = {
    "deepseek": "DeepseekV3ForCausalLM",
    "glm": "Glm4MoeForCausalLM",
    "qwen": "Qwen3_5MoeForCausalLM",
    "minimax": "MiniMaxM3SparseForConditionalGeneration",
}
FIRST_TARGETS = "0.30.0"
NOT_BUILDABLE = {("minimax", "0.25.0"), ("minimax", "0.26.0")}
"""Classes whose modules want a compiled operator as soon as they are imported."""
VARIABLE = {"FSE_ONLINE_SHARED_EXPERTS": "mxfp4"}


def starts(release: str) -> Iterator[tuple[Question, Start]]:
    """Every rank of tp 1 and 2, asked for by the variable; the last rank by a target too, where that is taken."""
    for tiny in loadable():
        # What is narrower a backend pads, each release in its own way.
        if not (tiny.stored.online and tiny.width == WIDTH and fuses(tiny, release)):
            continue
        for tp in SIZES:
            for rank in range(tp):
                question = Question(tiny=tiny, tp=tp, rank=rank)
                for options, environment in _ways(question, release):
                    yield (
                        question,
                        Start(
                            checkpoint=tiny,
                            release=release,
                            plugin=True,
                            rank=rank,
                            options={"tp": tp, **options},
                            environment=environment,
                        ),
                    )


def fuses(tiny: Tiny, release: str) -> bool:
    """Whether the release has the family's class, wires it, and can build it here."""
    data = releases.load(release)
    if (tiny.family, release) in NOT_BUILDABLE:
        return False
    return CLASSES[tiny.family] in data.wired and CLASSES[tiny.family] in data.architectures


def digest(loaded: Mapping[str, Mapping[str, Any]]) -> str:
    """One hash of all that the fused parameters hold, whatever the modules are called."""
    held = [[name, *_facts(parameter)] for parameters in loaded.values() for name, parameter in parameters.items()]
    return hashlib.sha256(json.dumps(held).encode()).hexdigest()[:16]


def _facts(parameter: Mapping[str, Any]) -> tuple[Any, ...]:
    return parameter["dtype"], parameter["shape"], parameter["sha256"], parameter["untouched"]


def _ways(question: Question, release: str) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    yield {}, VARIABLE
    takes_targets = releases.parsed(release).numbers >= releases.parsed(FIRST_TARGETS).numbers
    if takes_targets and (question.tp, question.rank) == (SIZES[-1], SIZES[-1] - 1):
        yield {"overlay": dict(question.tiny.overlay or {})}, {}
