"""Records what releases print while they build models: the logs that `fse doctor --log` is held against.

usage: python -m conformance.logs [NAME...]     (those of LOGS by name; else those that are not there yet)
Each is built as every other case is, on no GPU, but as many ranks as the log is to have, and the release's own log is
kept: see live/talk.py. Paths of this machine are replaced by those of the release's image, and nothing else.
"""

import gzip
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.checkpoints.blocks import BLOCKS
from conformance.home import PACKAGE, default_home
from conformance.live.ask import environment
from conformance.seeds import changed, seed
from fse_core.target import Target

FOLDER = PACKAGE / "recorded" / "logs"
TRUTH = FOLDER / "built.json"
IMAGE = "/usr/local/lib/python3.12/dist-packages"
SHARED_EXCLUDED = {"quantization_config.exclude": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*"]}


@dataclass(frozen=True, kw_only=True)
class Log:
    """One log. `of` is a folder of examples/, or a seed; `model` is what the model is called in the log."""

    name: str
    of: str
    model: str
    target: Target
    changes: Mapping[str, Any] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    ranks: int | None = None
    color: bool = False

    @property
    def file(self) -> Path:
        """Where it is kept."""
        return FOLDER / f"{self.name}.log.gz"

    def config(self) -> dict[str, Any]:
        """The model's config."""
        example = PACKAGE.parent / "examples" / self.of / "config.json"
        whole = json.loads(example.read_text()) if example.exists() else seed(self.of)
        return changed(whole, self.changes, self.dropped)

    def question(self) -> dict[str, Any]:
        """As live/talk.py takes it."""
        target: dict[str, Any] = {
            "tp": self.target.tp,
            "ep": self.target.ep,
            "dp": self.target.dp,
            "draft": self.target.draft,
        }
        target |= {"moe_backend": _given(self.target.moe_backend), "all2all_backend": self.target.all2all_backend}
        target |= {"overlay": self.target.overlay, "environment": dict(self.target.environment)}
        return {"model": self.model, "target": target, "color": self.color, "ranks": self.ranks or self.target.tp}


def _given(backend: str) -> str | None:
    return None if backend == "auto" else backend


def _log(name: str, of: str, model: str, vllm: str, *, gfx: str = "gfx950", **more: Any) -> Log:
    options = {key: more.pop(key) for key in ("tp", "ep", "dp", "overlay", "all2all_backend") if key in more}
    return Log(name=name, of=of, model=model, target=Target(vllm=vllm, gfx=gfx, draft=False, **options), **more)


def _r1(name: str, vllm: str, **more: Any) -> Log:
    model = "amd/DeepSeek-R1-MXFP4"
    return _log(name, "amd--DeepSeek-R1-MXFP4", model, vllm, tp=8, **{"changes": SHARED_EXCLUDED, **more})


LOGS: tuple[Log, ...] = (
    _r1("0.33.0-r1-mxfp4-eight-ranks", "0.33.0"),
    _r1("0.29.0-r1-mxfp4-eight-ranks", "0.29.0"),
    _r1("0.31.0-r1-mxfp4-colors", "0.31.0", ranks=2, color=True),
    _r1("0.33.0-r1-mxfp4-fuses", "0.33.0", changes={}, ranks=2),
    _log("0.24.0-r1-fp8", "deepseek-ai--DeepSeek-R1-0528", "deepseek-ai/DeepSeek-R1-0528", "0.24.0", tp=8, ranks=1),
    _log("0.28.0-r1-fp8", "deepseek-ai--DeepSeek-R1-0528", "deepseek-ai/DeepSeek-R1-0528", "0.28.0", tp=8, ranks=1),
    _log("0.33.0-r1-fp8", "deepseek-ai--DeepSeek-R1-0528", "deepseek-ai/DeepSeek-R1-0528", "0.33.0", tp=8, ranks=2),
    _log("0.30.0-kimi-int4", "moonshotai--Kimi-K2.5", "moonshotai/Kimi-K2.5", "0.30.0", tp=8, ranks=1),
    _log(
        "0.32.0-glm-5.3-flash-declined", "zai-org--GLM-5.3-Flash", "zai-org/GLM-5.3-Flash", "0.32.0", gfx="gfx942", tp=2
    ),
    _log("0.33.0-glm-5.3-flash-fuses", "zai-org--GLM-5.3-Flash", "zai-org/GLM-5.3-Flash", "0.33.0", tp=4, ranks=1),
    _log("0.31.0-deepseek-v4-dp", "deepseek-ai--DeepSeek-V4-Flash", "deepseek-ai/DeepSeek-V4-Flash", "0.31.0", dp=8),
    _log(
        "0.30.0-quark-one-shard-excluded",
        "amd--DeepSeek-R1-MXFP4",
        "amd/DeepSeek-R1-MXFP4",
        "0.30.0",
        tp=8,
        ranks=1,
        changes={"quantization_config.exclude": ["lm_head", "re:.*shared_experts.gate_proj"]},
    ),
    _log(
        "0.29.0-layers-disagree",
        "example--GLM-4.5-FP8-one-layer-ignored",
        "example/GLM-4.5-FP8",
        "0.29.0",
        tp=4,
        ranks=2,
    ),
    _log(
        "0.32.0-qwen3.8-online",
        "example--Qwen3.8-2.4T-A95B-MXFP4-online",
        "Qwen/Qwen3.8-2.4T-A95B-MXFP4",
        "0.32.0",
        tp=8,
        ranks=1,
        overlay={"targets": {"*shared_expert*": "mxfp4"}},
    ),
    _log(
        "0.33.0-mori",
        "deepseek-ai--DeepSeek-R1-0528",
        "deepseek-ai/DeepSeek-R1-0528",
        "0.33.0",
        ep=True,
        dp=8,
        ranks=1,
        all2all_backend="mori_high_throughput",
    ),
    _log(
        "0.25.0-qwen3.5-quark",
        "qwen3_5",
        "amd/Qwen3.5-397B-A17B-MXFP4",
        "0.25.0",
        tp=2,
        changes={"quantization_config": {**BLOCKS["quark_mxfp4"], "exclude": ["lm_head", "re:.*shared_expert.*"]}},
    ),
    _log("0.27.0-minimax-m3", "minimax_m3", "MiniMaxAI/MiniMax-M3", "0.27.0", tp=4, ranks=1),
    _log("0.26.0-qwen3-next", "Qwen--Qwen3-Next-80B-A3B-Thinking", "Qwen/Qwen3-Next-80B-A3B-Thinking", "0.26.0", tp=2),
)


def record(log: Log) -> tuple[str, dict[str, int]]:
    """What the release prints, with the image's paths; and how many layers of the last rank have slots, or none."""
    home = default_home(log.target.vllm)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / log.model
        model.mkdir(parents=True)
        (model / "config.json").write_text(json.dumps(log.config()))
        question = Path(folder) / "question.json"
        question.write_text(json.dumps(log.question()))
        done = subprocess.run(
            [str(home.python), "-P", "-m", "conformance.live.talk", str(question)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="backslashreplace",
            check=False,
            env=environment(home, log.target.gfx) | {"TMPDIR": folder},
            cwd=folder,
        )
        built: dict[str, int] = json.loads((Path(folder) / "built.json").read_text())
    paths = {str(home.package): IMAGE, str(home.venv): "/usr/local", folder: "/app", str(PACKAGE.parent): "/app"}
    return placed(done.stdout, paths), built


def placed(text: str, paths: Mapping[str, str]) -> str:
    """The text with other paths."""
    for here, there in paths.items():
        text = text.replace(here, there)
    text = re.sub(r"/usr/local/lib/python3\.\d+/site-packages", IMAGE, text)
    return re.sub(r'"[^"\n]+/lib/python3\.\d+/(?!dist-packages)', '"/usr/lib/python3.12/', text)


def read(log: Log) -> str:
    """A recorded log."""
    with gzip.open(log.file, "rt", encoding="utf-8") as opened:
        return opened.read()


def truth() -> dict[str, dict[str, int]]:
    """What was built beside each log, by its name."""
    found: dict[str, dict[str, int]] = json.loads(TRUTH.read_text()) if TRUTH.exists() else {}
    return found


def write(log: Log, text: str, built: Mapping[str, int]) -> None:
    """Keep a log and what was built; the same text is the same file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    log.file.write_bytes(gzip.compress(text.encode(), mtime=0))
    known = truth() | {log.name: dict(built)}
    lines = (f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known))
    TRUTH.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main() -> int:
    """Run the command line. Its exit code."""
    named = sys.argv[1:]
    for log in LOGS:
        if log.name in named or (not named and not (log.file.exists() and log.name in truth())):
            text, built = record(log)
            write(log, text, built)
            print(f"{log.name}: {len(text.splitlines())} lines", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
