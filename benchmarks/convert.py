"""How fast a checkpoint is converted, against `cp` on the same disk, and how much memory that takes.

The checkpoint is synthetic, with shared experts in every shard; both sides end in `sync`, and take turns.

usage: python -m benchmarks.convert [--gigabytes 8] [--share 0.01] [--width 2048] [--folder DIR] ...
       (exit status 1 if a bound is missed)
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.check import Bounds

HIDDEN: Final = 7168
SHARDS: Final = 8
SPEED: Final = 0.7
"""How fast at least, as a share of `cp`'s speed."""
MEMORY: Final = 500_000_000
"""Bytes that may be taken beside one tensor."""


def _config(layers: int, experts: int, width: int) -> dict[str, Any]:
    mx = {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"}
    scheme = {"weight": {**mx, "is_dynamic": False}, "input_tensors": {**mx, "is_dynamic": True}}
    return {
        "architectures": ["DeepseekV3ForCausalLM"],
        "model_type": "deepseek_v3",
        "hidden_size": HIDDEN,
        "moe_intermediate_size": width,
        "num_hidden_layers": layers,
        "n_routed_experts": experts,
        "n_shared_experts": 1,
        "first_k_dense_replace": 0,
        "num_nextn_predict_layers": 0,
        "quantization_config": {
            "quant_method": "quark",
            "export": {"kv_cache_group": [], "pack_method": "reorder"},
            "exclude": ["re:.*shared_experts.*", "lm_head"],
            "global_quant_config": {**scheme, "output_tensors": None, "bias": None},
            "layer_quant_config": {},
            "layer_type_quant_config": {},
        },
    }


def _layer(layer: int, experts: int, width: int) -> dict[str, tuple[str, tuple[int, int]]]:
    """The tensors of one layer, by name: types and shapes."""
    moe = f"model.layers.{layer}.mlp"
    shapes = {"gate_proj": (width, HIDDEN), "up_proj": (width, HIDDEN), "down_proj": (HIDDEN, width)}
    tensors: dict[str, tuple[str, tuple[int, int]]] = {}
    for leaf, (rows, columns) in shapes.items():
        for expert in range(experts):
            tensors[f"{moe}.experts.{expert}.{leaf}.weight"] = ("U8", (rows, columns // 2))
            tensors[f"{moe}.experts.{expert}.{leaf}.weight_scale"] = ("U8", (rows, columns // 32))
        tensors[f"{moe}.shared_experts.{leaf}.weight"] = ("BF16", (rows, columns))
    return tensors


def _write(path: Path, tensors: dict[str, tuple[str, tuple[int, int]]]) -> int:
    """A shard of arbitrary bytes, of which bf16 takes numbers of one size."""
    place, header, sizes = 0, {}, []
    for name, (dtype, (rows, columns)) in tensors.items():
        size = rows * columns * (2 if dtype == "BF16" else 1)
        header[name] = {"dtype": dtype, "shape": [rows, columns], "data_offsets": [place, place + size]}
        sizes.append((dtype, size))
        place += size
    text = json.dumps(header).encode()
    block = bytes(byte for value in os.urandom(1 << 20) for byte in (value, 0x3C | (value & 0x80)))
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for dtype, size in sizes:
            filling = block if dtype == "BF16" else os.urandom(1 << 20)
            for _ in range(size // len(filling)):
                file.write(filling)
            file.write(filling[: size % len(filling)])
    return place


def make(folder: Path, total: int, share: float, width: int) -> int:
    """A checkpoint of about `total` bytes, of which about `share` are shared experts. Gives its size."""
    one_shared = 3 * HIDDEN * width * 2
    one_routed = 3 * (HIDDEN * width // 2 + HIDDEN * width // 32)
    per_shard = max(1, round(total * share / SHARDS / one_shared))
    layers = SHARDS * per_shard
    experts = max(1, round((total - layers * one_shared) / layers / one_routed))
    written = 0
    for shard in range(SHARDS):
        tensors: dict[str, tuple[str, tuple[int, int]]] = {}
        for layer in range(shard * per_shard, (shard + 1) * per_shard):
            tensors |= _layer(layer, experts, width)
        written += _write(folder / f"model-{shard + 1:05}-of-{SHARDS:05}.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps(_config(layers, experts, width), indent=2))
    print(f"{written / 1e9:.2f} GB in {SHARDS} shards: {layers} layers of {experts} routed experts; ", end="")
    print(f"shared experts are {100 * layers * one_shared / written:.1f} %")
    return written


def _timed(command: list[str], out: Path) -> tuple[float, int]:
    """Seconds of the command and of `sync`; its peak of memory."""
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run(["sync"], check=True)
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{command} ended with {child.returncode}")
    subprocess.run(["sync"], check=True)
    return time.perf_counter() - started, usage.ru_maxrss * 1024


def _base() -> int:
    """What a process takes that has only loaded torch and this project."""
    program = "from fse_core.convert import numbers"
    child = subprocess.Popen([sys.executable, "-W", "ignore", "-c", program], stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    return usage.ru_maxrss * 1024


def main() -> int:
    """Measures, and says what was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--share", type=float, default=0.01, help="of the bytes, shared experts' (DeepSeek-R1: 0.7 %%)")
    parser.add_argument("--width", type=int, default=2048, help="of an expert; hidden is 7168")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where to work (default: the system's temporary folder)")
    args = parser.parse_args()
    bounds = Bounds()
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        source, out = Path(name) / "in", Path(name) / "out"
        source.mkdir()
        size = make(source, int(args.gigabytes * 1e9), args.share, args.width)
        program = "import sys; from fse_core.cli import main; sys.exit(main())"
        convert = [sys.executable, "-W", "ignore", "-c", program, "convert", str(source), "--out", str(out)]
        copy = ["cp", "-r", str(source), str(out)]
        ours, theirs = [], []
        for _ in range(args.runs):
            theirs.append(_timed(copy, out)[0])
            ours.append(_timed([*convert, "--workers", str(args.workers)], out))
        seconds, peak = statistics.median(time for time, _ in ours), max(memory for _, memory in ours)
    copied = statistics.median(theirs)
    print(f"cp {size / copied / 1e6:.0f} MB/s, fse convert {size / seconds / 1e6:.0f} MB/s (medians of {args.runs})")
    share = copied / seconds
    bounds.holds(f"{share:.2f} of the speed of cp (bound: at least {SPEED})", share >= SPEED)
    tensor = HIDDEN * args.width * 2
    print(f"  of these {_base() / 1e6:.0f} MB are what loading torch takes; one tensor is {tensor / 1e6:.0f} MB")
    most = tensor + MEMORY
    bounds.holds(f"{peak / 1e6:.0f} MB of memory at the peak (bound: {most / 1e6:.0f} MB)", peak <= most)
    print(json.dumps({"missed": bounds.missed}))
    return 1 if bounds.missed else 0


if __name__ == "__main__":
    sys.exit(main())
