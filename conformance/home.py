"""Where the release under test lives on this machine: an environment and the release's Python files."""

import os
from dataclasses import dataclass
from pathlib import Path

RELEASE = "0.33.0"
ENVIRONMENT_VARIABLE = "FSE_CONFORMANCE_HOME"
PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True, kw_only=True)
class Home:
    """A folder with `venv/` (torch and what the release needs) and `vllm-<version>/` (the release's Python files)."""

    root: Path
    release: str = RELEASE

    @property
    def venv(self) -> Path:
        return self.root / "venv"

    @property
    def python(self) -> Path:
        return self.venv / "bin" / "python"

    @property
    def package(self) -> Path:
        return self.root / f"vllm-{self.release}"

    @property
    def ready(self) -> bool:
        """Both halves were set up completely: each gets its mark only when it is whole."""
        return (self.venv / "ready").exists() and (self.package / "ready").exists()


def default_home(release: str = RELEASE) -> Home:
    """The folder that FSE_CONFORMANCE_HOME names, else one in the user's cache."""
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if named:
        return Home(root=Path(named).expanduser(), release=release)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return Home(root=cache / "fse-conformance", release=release)
