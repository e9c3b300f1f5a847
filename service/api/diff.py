"""`GET .../diff`: what another release changes for a model."""

from typing import Any, Final

from service import spans, targets
from service.api.spanning import Spanning


def _end(name: str, about: str, example: str) -> dict[str, Any]:
    told = {"name": name, "in": "query", "required": True, "description": about}
    return {**told, "schema": dict(targets.RELEASE), "example": example}


PARAMETERS: Final = [
    _end("from", "The release that serves the model now.", "0.31.0"),
    _end("to", "The release that is to serve it; it may be the older one.", "0.33.0"),
    *(parameter.openapi() for parameter in targets.PARAMETERS if parameter.name != "vllm"),
]

router = Spanning(
    name="diff",
    schema="Diff",
    result="What changes.",
    summary="What another release changes for {}",
    about="Layer by layer and why, as `fse.diff/1`; `outcome` says in one word whether the new release is worse.",
    parameters=PARAMETERS,
    read=spans.upgrade,
).router()
