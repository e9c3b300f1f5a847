"""What stands at the address that a problem's type is."""

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from service.problems import KINDS, Problem

router = APIRouter(include_in_schema=False)


@router.get("/problems/{name}")
async def explained(name: str) -> Response:
    """The type in plain words."""
    kind = KINDS.get(name)
    if kind is None:
        raise Problem("not-found", "no problem has this type")
    text = f"{kind.title} (HTTP {kind.status})\n\n{kind.meaning}\n"
    return PlainTextResponse(text, headers={"Cache-Control": "public, max-age=3600"})
