"""The least that FastAPI can do: one endpoint that returns the bytes of the file that BARE_BODY names."""

import os
from pathlib import Path

from fastapi import FastAPI, Response


def create_app() -> FastAPI:
    """Serves `/bare`."""
    body = Path(os.environ["BARE_BODY"]).read_bytes()
    app = FastAPI()

    @app.get("/bare")
    async def bare() -> Response:
        return Response(body, media_type="application/json")

    return app
