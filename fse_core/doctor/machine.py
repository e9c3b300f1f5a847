"""What is installed and plugged in here, found without importing any of it."""

import glob
import os
import re
from collections.abc import Mapping
from importlib import metadata

from fse_core.doctor.result import Machine, PluginState
from fse_core.plugged.options import FUSION, read

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "vllm": ("vllm",),
    "aiter": ("amd-aiter", "aiter"),
    "torch": ("torch",),
    "fse": ("vllm-fse",),
}
"""The distributions that each may be installed as."""
GROUP, NAME = "vllm.general_plugins", "fse"
NODES = "/sys/class/kfd/kfd/topology/nodes"
_TARGET = re.compile(r"^gfx_target_version (\d+)$", re.MULTILINE)
_LARGEST = 1 << 16


def look(environment: Mapping[str, str], nodes: str = NODES) -> Machine:
    """What this machine has; `environment` is that of the process to be started."""
    versions = {name: _version(distributions) for name, distributions in PACKAGES.items()}
    plugin, reason = _plugin(versions["vllm"], environment)
    return Machine(versions=versions, gpus=tuple(gpus(nodes)), plugin=plugin, plugin_reason=reason)


def _version(distributions: tuple[str, ...]) -> str | None:
    for name in distributions:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def gpus(nodes: str = NODES) -> list[str]:
    """The architecture of each GPU, as the kernel's driver states it; none where there is no such driver."""
    found = []
    for file in sorted(glob.glob(os.path.join(glob.escape(nodes), "*", "properties"))):
        try:
            with open(file, encoding="utf-8", errors="replace") as opened:
                match = _TARGET.search(opened.read(_LARGEST))
        except OSError:
            continue
        if match is not None and int(match[1]):
            found.append(architecture(int(match[1])))
    return found


def architecture(target: int) -> str:
    """gfx942 for 90402: major, minor and stepping, the latter two in hexadecimal digits."""
    major, minor, stepping = target // 10000, target // 100 % 100, target % 100
    return f"gfx{major}{minor:x}{stepping:x}"


def _plugin(version: str | None, environment: Mapping[str, str]) -> tuple[PluginState, str | None]:
    if version is None:
        return "absent", "there is no vLLM here"
    if not any(entry.name == NAME for entry in metadata.entry_points(group=GROUP)):
        return "absent", "vllm-fse is not installed beside vLLM"
    if not allowed(environment):
        return "off", f"VLLM_PLUGINS={environment['VLLM_PLUGINS']} does not name {NAME}"
    if not read(environment).active:
        wanted = read({**environment, FUSION: "1"}).active
        return "off", f"{FUSION} is not on" if wanted else "FSE_PLUGIN switches it off"
    return "on", None


def allowed(environment: Mapping[str, str]) -> bool:
    """Whether vLLM may load the plugin."""
    names = environment.get("VLLM_PLUGINS")
    return names is None or NAME in (name.strip() for name in names.split(","))
