"""Starts the plugin in a process: once, however often it is asked to."""

import logging
import sys

from fse_core import releases
from fse_core.errors import InputError
from fse_core.plugged.options import Options
from fse_core.plugged.plan import OLDEST
from fse_core.version import __version__
from fse_core.vllm_plugin import log, patches, warnings
from fse_core.vllm_plugin.installed import HERE, Installed


def once(options: Options, installed: Installed = HERE) -> None:
    """Have every function of this release that is to be replaced replaced when its module is imported."""
    if installed.states:
        return
    version = vllm_version()
    if releases.parsed(version).numbers < releases.parsed(OLDEST).numbers:
        log.line("vLLM %s is older than %s, the oldest that the plugin knows: nothing is changed", version, OLDEST)
        return
    for words in options.unknown:
        log.line("%s", words)
    for patch in patches.known():
        if patch.belongs_to(version):
            installed.add(patch)
    warnings.quieten()
    log.line("plugin %s of fse is on for vLLM %s", __version__, version, level=logging.DEBUG)


def vllm_version() -> str:
    """What the imported vLLM calls itself. InputError where that is no version."""
    version = getattr(sys.modules["vllm"], "__version__", None)
    if not isinstance(version, str):
        raise InputError("vllm.__version__", "expected a version, got nothing")
    return releases.parsed(version).name
