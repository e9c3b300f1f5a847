"""The question's other half: on which release, GPU and options the model is to be served."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

REQUESTED_ENVIRONMENT: Mapping[str, str] = {
    "VLLM_ROCM_USE_AITER": "1",
    "VLLM_ROCM_USE_AITER_MOE": "1",
    "VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS": "1",
}
"""What asks for fusion. A Target has it unless its own `environment` says otherwise."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """How a model is served. Sizes are numbers of GPUs; `overlay` is what --quantization-config holds."""

    vllm: str = "latest"
    gfx: str = "gfx942"
    tp: int = 1
    ep: bool = False
    dp: int = 1
    pcp: int = 1
    pp: int = 1
    moe_backend: str = "auto"
    all2all_backend: str | None = None
    eplb: bool = False
    dbo: bool = False
    plugin: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    overlay: Mapping[str, Any] | None = None
    draft: bool = True

    def variable(self, name: str) -> str | None:
        """The variable's text as the release's process would see it, or None where it is not set."""
        return self.environment.get(name, REQUESTED_ENVIRONMENT.get(name))

    def is_on(self, *names: str) -> bool:
        """Whether each variable says yes, as vLLM parses it: `true` or `1`, in any case (envs.py:1267 at 0.33.0)."""
        return all((self.variable(name) or "").lower() in ("true", "1") for name in names)

    def as_dict(self) -> dict[str, Any]:
        """The target as a report shows it."""
        shown = {field.name: getattr(self, field.name) for field in fields(self)}
        shown["env"] = dict(shown.pop("environment"))
        shown["quantization_config"] = shown.pop("overlay")
        return shown
