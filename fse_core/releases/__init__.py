"""What is particular to each vLLM release: one TOML file a release, read by its name."""

import functools
import os
import re
from typing import Any

from fse_core.errors import InputError
from fse_core.releases.release import Release

_FOLDER = os.path.dirname(__file__)
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


@functools.cache
def known() -> tuple[str, ...]:
    """The releases that are known, the newest last."""
    names = os.listdir(_FOLDER)
    return tuple(sorted((n.removesuffix(".toml") for n in names if n.endswith(".toml")), key=_number))


@functools.cache
def load(version: str) -> Release:
    """The release named `version`: `latest`, or a number with or without a local suffix (`0.33.0+rocm721`)."""
    name = known()[-1] if version == "latest" else version.partition("+")[0].removeprefix("v")
    if name not in known():
        expected = f"expected latest or one of {', '.join(known())}"
        if _VERSION.match(name) is None:
            raise InputError("--vllm", f"{expected}, got {version!r}")
        raise InputError("--vllm", f"vLLM {version} is not known; {expected}")
    import tomllib  # costs more than all of this package's own imports

    with open(os.path.join(_FOLDER, f"{name}.toml"), "rb") as file:
        data: dict[str, Any] = tomllib.load(file)
    return Release.from_data(name, data)
