"""What reading headers costs: a made checkpoint of 282 files and 150,000 tensors, from the Hub server of the tests.

usage: python -m benchmarks.headers     (exit status 1 if a bound is missed or could not be measured)

Each reader is a process of its own, that it may be told how much memory it took. hf-mem and the Hub client's own reader
are asked for the same checkpoint from the same server, one after the other.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.check import Bounds
from benchmarks.models import DEEPSEEK_R1
from tests.hub_server import Hollow, HubServer
from tests.hub_server.fixtures import environment
from tests.safetensors_files import INDEX, deepseek, sharded

ID = "org/large"
SHARDS, LAYERS, EXPERTS = 282, 62, 421
SECONDS = 600

_HF_MEM = """
import sys, httpx2
build = httpx2.AsyncClient.build_request
def local(self, method, url, **options):
    return build(self, method, str(url).replace("https://huggingface.co", "{hub}"), **options)
httpx2.AsyncClient.build_request = local
sys.argv = ["hf-mem", "--model-id", "{id}"]
from hf_mem.cli import main
main()
"""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What one reader took; `memory` are the megabytes at its largest."""

    seconds: float
    memory: float
    requests: int
    megabytes: float

    def __str__(self) -> str:
        return (
            f"{self.requests:,} requests, {self.megabytes:.1f} MB, {self.seconds:.1f} s, {self.memory:.0f} MB of memory"
        )


def checkpoint(order: Callable[[Sequence[str]], Sequence[str]]) -> dict[str, Hollow | bytes]:
    """A DeepSeek-V3 with more experts, its tensors in this order."""
    tensors = deepseek(range(LAYERS), EXPERTS)
    files = sharded({name: tensors[name] for name in order(list(tensors))}, SHARDS)
    return {**files, "config.json": (DEEPSEEK_R1 / "config.json").read_bytes()}


def measured(hub: HubServer, command: Sequence[str], variables: Mapping[str, str]) -> Cost:
    """Runs a reader. RuntimeError where it fails."""
    hub.requests.clear()
    hub.sent = 0
    started = time.perf_counter()
    with tempfile.TemporaryFile() as told:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told, env={**os.environ, **variables})
        memory = 0.0
        while process.poll() is None:
            memory = max(memory, _largest(process.pid))
            time.sleep(0.02)
        seconds = time.perf_counter() - started
        if process.returncode:
            told.seek(0)
            lines = told.read().decode("utf-8", "replace").strip().splitlines()
            raise RuntimeError(f"exit status {process.returncode}: {(lines or ['no word'])[-1][:200]}")
    return Cost(
        seconds=seconds,
        memory=memory,
        requests=len(hub.requests),
        megabytes=hub.sent / 1e6,
    )


def _largest(process: int) -> float:
    """Megabytes at its largest so far. What wait4 would tell begins with what this process has."""
    try:
        found = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{process}/status").read_text("ascii"))
    except OSError:
        found = None
    return int(found[1]) / 1024 if found else 0.0


def _under(bounds: Bounds, what: str, value: float, bound: float) -> None:
    bounds.holds(f"{what}: {value:.1f} (bound: under {bound:g})", value < bound)


def ours(bounds: Bounds, hub: HubServer, home: Path) -> None:
    """Sample and full, then full once more from the store."""
    fse = [str(Path(sys.executable).parent / "fse"), "check", ID, "--tp", "8", "--format", "json", "--headers"]
    variables = {**environment(hub, home), "XDG_CACHE_HOME": str(home / "cache")}
    sample = measured(hub, [*fse, "sample"], variables)
    print(f"fse check --headers sample: {sample}")
    _under(bounds, "requests of a sample", sample.requests, 25)
    _under(bounds, "megabytes of a sample", sample.megabytes, 5)
    full = measured(hub, [*fse, "full"], variables)
    print(f"fse check --headers full: {full}")
    _under(bounds, "seconds of all headers", full.seconds, 20)
    _under(bounds, "megabytes of memory for all headers", full.memory, 300)
    kept = measured(hub, [*fse, "full"], variables)
    print(f"the same, from what was kept: {kept}")


def the_client(hub: HubServer, home: Path) -> None:
    """The Hub client's own reader."""
    code = f"from huggingface_hub import get_safetensors_metadata; get_safetensors_metadata({ID!r})"
    try:
        cost = measured(hub, [sys.executable, "-c", code], environment(hub, home))
        print(f"huggingface_hub.get_safetensors_metadata: {cost}")
    except RuntimeError as error:
        print(f"huggingface_hub.get_safetensors_metadata: NOT MEASURED, {error}")


def hf_mem(hub: HubServer, home: Path) -> None:
    """hf-mem, from an environment made for this alone. It knows one address, in whose place the server's is put."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [f"{folder}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "hf-mem"]
        try:
            for step in ([sys.executable, "-m", "venv", folder], pip):
                done = subprocess.run(step, capture_output=True, text=True, check=False, timeout=SECONDS)
                if done.returncode:
                    raise RuntimeError((done.stderr.strip().splitlines() or ["pip failed"])[-1])
            command = [f"{folder}/bin/python", "-c", _HF_MEM.format(hub=hub.url, id=ID)]
            print(f"hf-mem: {measured(hub, command, environment(hub, home))}")
        except RuntimeError as error:
            print(f"hf-mem: NOT MEASURED, {error}")


def main() -> int:
    """Measures everything and says what was missed."""
    bounds = Bounds()
    for what, order in (("in the order of its modules", list), ("in the order of its names", sorted)):
        files = checkpoint(order)
        count = len(json.loads(bytes(files[INDEX][:]))["weight_map"])
        print(f"{SHARDS} files, {count:,} tensors {what}, an index of {len(files[INDEX]) / 1e6:.1f} MB")
        with HubServer() as hub, tempfile.TemporaryDirectory() as folder:
            apart = frozenset(name for name in files if name != "config.json")
            hub.add(ID, files, stored_apart=apart)
            ours(bounds, hub, Path(folder))
            if order is list:
                the_client(hub, Path(folder))
                hf_mem(hub, Path(folder))
    print(json.dumps({"missed": bounds.missed}))
    return 1 if bounds.missed else 0


if __name__ == "__main__":
    sys.exit(main())
