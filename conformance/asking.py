"""Has `fse ask` put a shipped example to 0.33.0, as if that were installed beside it, and hears whether all agree."""

import json
import os
import subprocess
import tempfile
from typing import Final

from conformance.home import PACKAGE, RELEASE, default_home

EXAMPLE: Final = "amd--DeepSeek-R1-MXFP4"
LAYERS: Final = 58


def agrees() -> bool:
    """Run the command with the release's own Python. Whether it fuses every layer, as predicted."""
    home, root = default_home(RELEASE), PACKAGE.parent
    source = str(root / "examples" / EXAMPLE)
    command = [str(home.python), "-P", "-c", "from fse_core.cli import run; run()", "ask", source]
    paths = os.pathsep.join([str(home.package), str(root)])
    with tempfile.TemporaryDirectory() as elsewhere:  # what is in the checkout is found by its path alone
        done = subprocess.run(
            [*command, "--gfx", "gfx950", "--tp", "8", "--no-draft", "--format", "json"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": paths},
            cwd=elsewhere,
        )
    if done.returncode:
        print(f"fse ask, {RELEASE}: exit status {done.returncode}: {done.stderr.strip()[-300:]}")
        return False
    told = json.loads(done.stdout)
    print(f"fse ask, {RELEASE}: {told['agreed']} agreed / {told['compared']} compared, {told['fused']} fused")
    return (told["version"], told["pretended"]) == (RELEASE, True) and (
        told["agreed"] == told["compared"] == told["fused"] == LAYERS
    )
