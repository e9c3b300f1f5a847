"""The OpenAPI document against the service: schemathesis with all its checks, a process of its own for each.

FSE_SCHEMATHESIS is the number of cases for each operation and phase; thousands in all take some minutes. The same
cases are made each time, so that a change is judged by what it changed; FSE_SCHEMATHESIS_SEED makes others.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.hub_server import HubServer
from tests.service.clients import ROOT, files
from tests.service.processes import service

CASES = os.environ.get("FSE_SCHEMATHESIS", "15")
SEED = os.environ.get("FSE_SCHEMATHESIS_SEED", "33")
ACCEPTED = ["2xx", "3xx", "401", "403", "404", "409", "422", "429", "5xx"]
"""As schemathesis has it, and 422, of which schema_checks.py sees to it that it is for the release's sake."""
EXAMPLES = ("deepseek-ai/DeepSeek-R1-0528", "amd/DeepSeek-R1-MXFP4", "moonshotai/Kimi-K2-Instruct")


def test_the_service_keeps_to_its_document(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("schemathesis")
    with HubServer() as hub:
        for name in EXAMPLES:
            hub.add(name, files())
        with service(tmp_path, hub, FSE_LOG_LEVEL="warning", FSE_BATCH_MOST="3") as running:
            config = tmp_path / "schemathesis.toml"
            config.write_text(f"[checks.positive_data_acceptance]\nexpected-statuses = {ACCEPTED}\n")
            options = ["--checks", "all", "--max-examples", CASES, "--seed", SEED, "--no-color"]
            done = subprocess.run(
                [
                    command,
                    "--config-file",
                    config,
                    "run",
                    f"{running.url}/openapi.json",
                    "--continue-on-failure",
                    *options,
                ],
                cwd=tmp_path,
                env={**os.environ, "SCHEMATHESIS_HOOKS": "tests.service.api.schema_checks", "PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                timeout=3000,
                check=False,
            )
            assert done.returncode == 0, done.stdout[-6000:] + running.log.read_text()[-3000:]
            assert "Traceback" not in running.log.read_text()
