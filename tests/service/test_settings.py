"""The settings, as they are documented and as the environment gives them."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from service.settings import Settings
from tests.service.clients import ROOT

DOCUMENT = (ROOT / "docs" / "service.md").read_text("utf-8")


def test_every_setting_is_documented_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(FSE_\w+)` \| `?([^`|]*?)`? ?\|", DOCUMENT, re.MULTILINE))
    assert rows == {f"FSE_{name.upper()}": str(field.default) for name, field in Settings.model_fields.items()}


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FSE_EXAMPLES", "/somewhere/else")
    monkeypatch.setenv("FSE_TRUST_FORWARDED", "true")
    settings = Settings()
    assert settings.examples == Path("/somewhere/else")
    assert settings.trust_forwarded


def test_what_is_no_number_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FSE_PORT", "eighty")
    with pytest.raises(ValidationError, match="port"):
        Settings()
