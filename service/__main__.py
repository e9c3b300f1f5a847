"""`python -m service`: serves with the settings of the environment."""

import gc

import uvicorn
from fastapi import FastAPI

from service.app import create_app
from service.settings import Settings


def application() -> FastAPI:
    """What a worker serves."""
    app = create_app()
    # What stands from here on need not be looked at again: a full collection is a pause that requests would feel.
    gc.collect()
    gc.freeze()
    return app


def main() -> None:
    """Runs until told to stop; then what has begun is finished."""
    settings = Settings()
    uvicorn.run(
        "service.__main__:application",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # whom to believe about the client's address is FSE_TRUST_FORWARDED's to say
        timeout_keep_alive=30,
        timeout_graceful_shutdown=max(1, round(settings.stop_seconds)),
    )


if __name__ == "__main__":
    main()
