"""Made reports, for what no config gives at will."""

from typing import Any

from fse_core.report import Decision, Failure, Finding, Fix, Layer, Report, Source
from fse_core.target import Target

FUSED = Decision(decision="fused")
UNDECIDED = Decision(decision="undecided")


def separate(reason: str | None) -> Decision:
    return Decision(decision="separate", reason=reason)


def failed(type: str, message: str) -> Decision:
    return Decision(decision="error", error=Failure(type=type, message=message))


def layer(index: int, decision: Decision = FUSED, **more: Any) -> Layer:
    prefix = f"model.layers.{index}.mlp"
    facts: dict[str, Any] = {
        "index": index,
        "part": "target",
        "prefix": prefix,
        "experts": f"{prefix}.experts",
        "shared": f"{prefix}.shared_experts",
        "slots": 1,
        "mode": "aiter",
        "decision": decision,
    }
    return Layer(**{**facts, **more})


def report(*layers: Layer, **more: Any) -> Report:
    facts: dict[str, Any] = {
        "source": Source(kind="hub", id="org/model", revision="main", commit="c0ffee"),
        "architecture": "DeepseekV3ForCausalLM",
        "model_type": "deepseek_v3",
        "layer_count": 61,
        "quantization": "Fp8Config",
        "target": Target(vllm="0.33.0", tp=8).as_dict(),
        "verdict": "fuses",
        "requested": True,
        "layers": layers,
    }
    return Report(**{**facts, **more})


def finding(**more: Any) -> Finding:
    facts: dict[str, Any] = {
        "rule": "FSE101",
        "name": "shared-expert-excluded",
        "severity": "warning",
        "confidence": "certain",
        "consequence": "not_fused",
        "message": "The checkpoint keeps its shared experts in bf16.",
        "layers": "3-60",
        "evidence": ("quantization_config.exclude[4]",),
        "fixes": (Fix(kind="flag", safety="changes-numerics", summary="quantize them while loading", patch={"a": 1}),),
    }
    return Finding(**{**facts, **more})
