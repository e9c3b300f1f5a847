"""Importable in place of FlashAttention, which needs a GPU or compiled code. Nothing of it is ever run."""

from typing import Any

import absent

__version__ = "0.99.0"
__path__: list[str] = []
absent.stand_in_for(__name__)


def __getattr__(name: str) -> Any:
    return absent.mock_name(name)
