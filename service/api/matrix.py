"""`GET .../matrix`: one model on all releases and GPUs."""

from typing import Any, Final

from service import spans, targets
from service.api.spanning import Spanning

_OPTIONS: Final = [parameter.openapi() for parameter in targets.PARAMETERS if parameter.name not in ("vllm", "gfx")]
_RANGE: Final = r"^[0-9.]{0,20}\.\.[0-9.]{0,20}$"
PARAMETERS: Final[list[dict[str, Any]]] = [
    {
        "name": "vllm", "in": "query", "required": False,
        "description": "A release, or OLDEST..NEWEST, either end of which may be left out; may be repeated. All "
        "releases that are known unless given.",
        "schema": {
            "type": "array", "maxItems": spans.MOST_RELEASES,
            "items": {"anyOf": [*targets.RELEASE["anyOf"], {"type": "string", "pattern": _RANGE}]},
        },
        "example": ["0.24.0..0.33.0"],
    },
    {
        "name": "gfx", "in": "query", "required": False,
        "description": "GPU architecture; may be repeated. gfx942 and gfx950 unless given.",
        "schema": {"type": "array", "maxItems": spans.MOST_GPUS, "items": dict(targets.GPU)},
        "example": ["gfx942", "gfx950"],
    },
    *_OPTIONS,
]  # fmt: skip

router = Spanning(
    name="matrix",
    schema="Matrix",
    result="The matrix.",
    summary="{} on all releases and GPUs",
    about="Since when and until when which release does what, as `fse.matrix/1`: a mark for each, with numbered notes.",
    parameters=PARAMETERS,
    read=spans.matrix,
).router()
