"""A running application, and how tests ask it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from service.app import create_app
from service.settings import Settings
from tests.hub_server import HubServer
from tests.models import DEEPSEEK, FP8_BLOCK

ROOT = Path(__file__).parents[2]

MODEL = "org/name"
URL = f"/v1/models/{MODEL}"
WIDE = {**DEEPSEEK, "moe_intermediate_size": 1024}
"""Wide enough for blocks of 128 on 8 GPUs."""

CONFIG = {**WIDE, "quantization_config": FP8_BLOCK}
NVFP4 = {
    "producer": {"name": "modelopt"},
    "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": None, "group_size": 16, "exclude_modules": []},
}
"""A hf_quant_config.json."""

TOKEN = {"Authorization": "Bearer hf_reader"}


def files(config: Any = CONFIG, **more: bytes) -> dict[str, bytes]:
    """What a repository holds."""
    return {"config.json": json.dumps(config).encode(), **more}


def settings(folder: Path, **changed: Any) -> Settings:
    given = {"store": f"sqlite:///{folder}/fse.sqlite3", "examples": ROOT / "examples", "rate": 0, "hub_seconds": 10}
    return Settings(**{**given, **changed})


@contextmanager
def serving(folder: Path, **changed: Any) -> Iterator[TestClient]:
    """The application, started; an exception inside it is an answer with status 500."""
    app = create_app(settings(folder, **changed))
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def asked(hub: HubServer, part: str = "") -> int:
    """How many requests reached the Hub that have `part` in them."""
    return sum(part in line for line in hub.asked())


def problem(response: Any, status: int, name: str) -> dict[str, Any]:
    """The problem that the response must be."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["cache-control"] == "no-store"
    told: dict[str, Any] = response.json()
    assert (told["type"], told["status"]) == (f"/problems/{name}", status)
    assert told["title"]
    assert told["detail"]
    return told
