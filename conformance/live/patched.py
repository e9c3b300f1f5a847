"""One fresh process of the release: it loads its plugins as it does at a start, and every function is looked at.

The release's own loader of general plugins runs first, before any model code is imported, then again as another process
part would. Out: one JSON object. In, as the one argument: `{"site": FOLDER}`.
"""

import importlib
import json
import logging
import os
import sys
from typing import Any

from conformance.live import rocm
from conformance.live.server import WARM


class Heard(logging.Handler):
    """What the plugin says."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def looked_at(version: str) -> dict[str, Any]:
    """Each function that a patch of this release is about: `ours`, `theirs`, or None where there is none."""
    from fse_core.vllm_plugin import patches
    from fse_core.vllm_plugin.patch import place, plain

    found: dict[str, Any] = {}
    for patch in patches.known():
        if patch.belongs_to(version):
            thing = place(importlib.import_module(patch.module), patch.attribute)
            function = None if thing is None else plain(thing)
            found[patch.name] = None if function is None else (_owner(function), id(thing))
    return found


def _owner(function: Any) -> str:
    """Whose code runs; a function that wraps another has the other's name, but its own code."""
    return "ours" if "/vllm_plugin/" in function.__code__.co_filename else "theirs"


def main() -> None:
    """Load plugins twice, and tell."""
    question = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    rocm.pretend()
    sys.path.append(question["site"])
    heard = Heard()
    import vllm
    from vllm import plugins

    logging.getLogger("vllm.fse").addHandler(heard)
    before = set(sys.modules)
    plugins.load_general_plugins()
    imported = sorted(name for name in set(sys.modules) - before if name.startswith(("vllm.model_executor", "torch.")))
    from vllm.triton_utils import tl

    type(tl).__getattr__ = lambda _self, _name: None  # kernels are defined here and never run
    for name in WARM:
        importlib.import_module(name)
    rocm.mock_absent_operators()  # which these look for themselves, and do without
    from vllm.model_executor.model_loader import base_loader, utils

    first = looked_at(vllm.__version__)
    states = _states()
    plugins.plugins_loaded = False
    plugins.load_general_plugins()
    second = looked_at(vllm.__version__)
    answer = {
        "owners": {name: None if found is None else found[0] for name, found in first.items()},
        "twice_the_same": first == second,
        "states": states,
        "lines": heard.lines,
        "imported_by_plugin": imported,
        "taken_by_name": base_loader.initialize_model is utils.initialize_model,
    }
    print(json.dumps(answer), file=answers, flush=True)


def _states() -> dict[str, str]:
    installed = sys.modules.get("fse_core.vllm_plugin.installed")
    return {} if installed is None else dict(installed.HERE.states)


if __name__ == "__main__":
    main()
