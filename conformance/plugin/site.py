"""A folder that looks to importlib.metadata like the site-packages that this project is installed in."""

import tomllib
from pathlib import Path

from conformance.home import PACKAGE
from fse_core.version import __version__

GROUP = "vllm.general_plugins"


def install(folder: Path) -> Path:
    """The metadata that an installed wheel has, with the entry points that pyproject.toml states."""
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{__version__}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: {__version__}\n")
    points = "".join(f"{name} = {value}\n" for name, value in project["entry-points"][GROUP].items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}")
    return folder
