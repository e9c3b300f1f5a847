"""What the API offers, with commands to try it."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from fse_core import releases
from service.pages.base import html, kept
from service.problems import KINDS
from service.targets import PARAMETERS

router = APIRouter()


@router.get("/api")
async def api(request: Request) -> Response:
    """Kept for ever: the API does not change while the service runs."""

    async def make() -> bytes:
        return html(request, "api.html", {"kinds": KINDS, "parameters": PARAMETERS, "previous": releases.known()[-2]})

    return await kept(request, "api", make)
