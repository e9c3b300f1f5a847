"""`POST /v1/check`: the report for a config that the caller sends."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service import openapi, state
from service.api import inputs
from service.reports import ENGINE

router = APIRouter(tags=["models"])

_EXAMPLE = {
    "config": {
        "architectures": ["Qwen3NextForCausalLM"],
        "model_type": "qwen3_next",
        "num_hidden_layers": 2,
        "num_experts": 8,
        "num_experts_per_tok": 2,
        "shared_expert_intermediate_size": 64,
        "moe_intermediate_size": 64,
        "hidden_size": 128,
    },
    "target": {"gfx": "gfx942", "tp": 1},
}


@router.post(
    "/v1/check",
    operation_id="models-check",
    summary="The report for a config.json",
    response_class=Response,
    responses={
        200: {"description": "The report.", "content": {"application/json": {"schema": openapi.ref("Report")}}},
        **openapi.problems("too-large", "timeout", "unsupported-media-type", "invalid-input", "too-slow", "busy"),
    },
    openapi_extra={
        "requestBody": openapi.json_body(
            {
                "type": "object",
                "additionalProperties": False,
                "required": ["config"],
                "properties": {
                    "config": {"type": "object", "description": "What config.json holds."},
                    "hf_quant_config": {"type": ["object", "null"], "description": "What hf_quant_config.json holds."},
                    "target": {"oneOf": [openapi.ref("Target"), {"type": "null"}]},
                },
            },
            {"qwen3-next": _EXAMPLE},
        )
    },
)
async def check(request: Request) -> Response:
    """Nothing of what is sent is kept. A config that is no model's is a report with verdict `undecided`."""
    fields = await inputs.body(request, ("config", "hf_quant_config", "target"))
    target = inputs.target(fields)
    with inputs.reading():
        config = fields.object("config").raw
        quant = None if fields.get("hf_quant_config") is None else fields.object("hf_quant_config").raw
        body = await state.of(request)["reports"].body_for_config(config, quant, target)
    headers = {"Cache-Control": "no-store", "X-FSE-Engine": ENGINE}
    return Response(body, headers=headers, media_type="application/json")
