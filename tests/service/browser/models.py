"""The models that the Hub of the browser tests has, one for each kind of answer."""

from typing import Any

from tests.hub_server import HubServer
from tests.models import FP8_BLOCK
from tests.service.clients import WIDE, files
from tests.service.headers import checkpoint, plain_shared, with_a_wrong_index

_APART = [f"model.layers.{i}.mlp.shared_experts.{name}_proj" for i in (3, 4, 5) for name in ("gate", "up", "down")]
_ONE_SHARD = [f"model.layers.{i}.mlp.shared_experts.gate_proj" for i in (3, 4, 5)]


def _deepseek(**block: Any) -> dict[str, Any]:
    return {**WIDE, "quantization_config": {**FP8_BLOCK, **block}}


CONFIGS: dict[str, dict[str, Any]] = {
    "org/fused": _deepseek(),
    "org/apart": _deepseek(ignored_layers=_APART),
    "org/fails": _deepseek(ignored_layers=_ONE_SHARD),
    "org/dense": {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 4},
    "org/unknown": {"architectures": ["NobodyKnowsForCausalLM"], "model_type": "nobody", "num_hidden_layers": 4},
    "org/markup": {**_deepseek(), "architectures": ["<script>alert(1)</script>"], "model_type": "<b>"},
}


SLOW = tuple(f"org/slow-{number}" for number in range(4))
"""Models whose headers take a while, one for each test: what was read once is there for all targets."""


def fill(hub: HubServer) -> None:
    """Adds them, a gated one, and some that have headers."""
    for name, config in CONFIGS.items():
        hub.add(name, files(config))
    hub.add("org/gated", files(_deepseek()), gated=True)
    hub.add("org/stored", checkpoint(plain_shared()))
    for name in SLOW:
        hub.add(name, checkpoint(plain_shared(), 16))
    hub.fail("org/slow-.*/resolve/.*-of-00016.safetensors", delay=1.5)
    hub.add("org/no-index", with_a_wrong_index())
