"""The style sheet, the module and the icon, each under an address that changes with its bytes."""

import functools
import hashlib
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from service.problems import Problem

_FOLDER: Final = Path(__file__).resolve().parent.parent / "static"
_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

router = APIRouter()


@functools.cache
def _files() -> dict[str, tuple[str, bytes, str]]:
    """Each file's digest, bytes and media type, by its name. Nothing else of the folder can be asked for."""
    found = {}
    for path in sorted(_FOLDER.iterdir()):
        if path.suffix in _TYPES:
            body = path.read_bytes()
            found[path.name] = (hashlib.sha256(body).hexdigest()[:12], body, _TYPES[path.suffix])
    return found


def address(name: str) -> str:
    """Where a page finds the file."""
    return f"/static/{_files()[name][0]}/{name}"


@router.get("/static/{digest}/{name}")
async def static(request: Request, digest: str, name: str) -> Response:
    """One of the files, for ever: other bytes have another address."""
    known = _files().get(name)
    if known is None or digest != known[0]:
        raise Problem("not-found", "no such file")
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "ETag": f'"{digest}"'}
    if f'"{digest}"' in request.headers.get("if-none-match", ""):
        return Response(None, 304, headers)
    return Response(known[1], 200, headers, media_type=known[2])


@router.get("/favicon.ico")
async def favicon() -> Response:
    """Where browsers look for an icon unasked."""
    return RedirectResponse(address("icon.svg"), 308)
