"""What the API offers, with commands to try it."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service.pages.base import html, kept
from service.problems import KINDS
from service.targets import PARAMETERS

router = APIRouter(include_in_schema=False)


@router.get("/api")
async def api(request: Request) -> Response:
    """Kept for ever: the API does not change while the service runs."""

    async def make() -> bytes:
        return html(request, "api.html", {"kinds": KINDS, "parameters": PARAMETERS})

    return await kept(request, "api", make)
