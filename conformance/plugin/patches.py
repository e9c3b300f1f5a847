"""Is the plugin found by each release's own loader, and does it touch what it should and nothing else?

usage: python -m conformance.plugin.patches [--record] [RELEASE...]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance import install
from conformance.home import PACKAGE, default_home
from conformance.live.ask import QUIET
from conformance.plugin import record, site
from conformance.plugin.rows import RELEASES
from fse_core.target import REQUESTED_ENVIRONMENT
from fse_core.vllm_plugin import patches

LOADER = "model_executor/layers/fused_moe/routed_experts.py"
CHANGE = ("loaded_weight: torch.Tensor,", "loaded_weight: torch.Tensor,  # changed")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One process. `altered`: with a file of the release that is changed in the text of one function."""

    name: str
    environment: Mapping[str, str] = field(default_factory=dict)
    altered: bool = False


CASES = (
    Case(name="asked"),
    Case(name="not asked", environment={"VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS": "0"}),
    Case(name="switched off", environment={"FSE_PLUGIN": "off"}),
    Case(name="altered", altered=True),
)


def answers(release: str) -> Iterator[dict[str, Any]]:
    """What each case comes to in the release."""
    with tempfile.TemporaryDirectory() as folder:
        installed = site.install(Path(folder, "site"))
        for case in CASES:
            package = default_home(release).package
            if case.altered:
                package = altered(package, Path(folder, "altered"))
            yield {"case": case.name, **_run(release, package, installed, case)}


def altered(package: Path, folder: Path) -> Path:
    """The release again, of links, but for one file, in which the text of one function is another."""
    at, source = folder, package
    for name in ("vllm", *LOADER.split("/")):
        at.mkdir(parents=True, exist_ok=True)
        for other in source.iterdir():
            if other.name not in (name, "__pycache__"):
                (at / other.name).symlink_to(other)
        at, source = at / name, source / name
    at.write_text(source.read_text("utf-8").replace(*CHANGE), "utf-8")
    return folder


def _run(release: str, package: Path, installed: Path, case: Case) -> dict[str, Any]:
    home = default_home(release)
    paths = (PACKAGE / "live" / "stand_ins", package, PACKAGE.parent)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VLLM_", "FSE_"))}
    own = {"FSE_GFX": "gfx950", "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [str(home.python), "-P", "-m", "conformance.live.patched", json.dumps({"site": str(installed)})],
        env={**kept, **QUIET, **REQUESTED_ENVIRONMENT, **own, **case.environment},
        cwd=home.root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"vLLM {release}, {case.name}: {done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def wrong(release: str, answer: Mapping[str, Any]) -> Iterator[str]:
    """What is not as it should be in one case's answer."""
    there = {patch.name for patch in patches.known() if patch.belongs_to(release)}
    ours = {name for name, owner in answer["owners"].items() if owner == "ours"}
    case = answer["case"]
    wanted = {"asked": there, "altered": there - {"expert_weight_loader"}}.get(case, set())
    if ours != wanted:
        yield f"{case}: {sorted(ours)} are replaced, not {sorted(wanted)}"
    if not answer["twice_the_same"]:
        yield f"{case}: loading plugins again changed something"
    if answer["imported_by_plugin"]:
        yield f"{case}: the plugin imported {answer['imported_by_plugin']}"
    if not answer["taken_by_name"]:
        yield f"{case}: the loaders of models took initialize_model by its name before it was replaced"
    lines = [line for line in answer["lines"] if "left untouched" in line]
    if len(lines) != (case == "altered"):
        yield f"{case}: {len(lines)} lines about what is left untouched: {lines}"


def main() -> int:
    """Run the command line. Its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("releases", nargs="*", metavar="RELEASE", default=RELEASES)
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    bad = 0
    for release in arguments.releases:
        if install.ready(release) == install.UNAVAILABLE:
            return install.UNAVAILABLE
        found = list(answers(release))
        complaints = [words for answer in found for words in wrong(release, answer)]
        for words in complaints:
            print(f"{release}: {words}", flush=True)
        print(f"{release}: {len(found)} processes, {len(complaints)} complaints", flush=True)
        bad += len(complaints)
        if arguments.record:
            record.write("patches", release, found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
