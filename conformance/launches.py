"""Launch commands from public reports, as facts: what was served how, and what the releases themselves make of it.

usage: python -m conformance.launches [REPORT...]     (asks the releases; exit code 1 where one says otherwise than we)
A command is what a report tells of options, variables and images, in our own words; a model is a small one of the same
family, stored as the report says. `fse doctor` reads the command (tests/doctor/test_launches.py), and the release gets
what it read.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.case import Case
from conformance.checkpoints import blocks
from conformance.compare import judge, summary
from conformance.home import PACKAGE
from conformance.live.ask import Live
from conformance.seeds import changed, seed
from fse_core import releases
from fse_core.doctor import command
from fse_core.doctor.examine import Question, examine
from fse_core.doctor.result import Diagnosis, Machine
from fse_core.read.model import Model
from fse_core.read.source import model_from_dict

FILE = PACKAGE / "launches.json"
GPUS = ("gfx90a", "gfx942", "gfx950", "gfx1250")
"""What the harness can pass for."""
OLDEST = "0.24.0"
"""What is older cannot be asked about everything; see docs/conformance.md."""
INT4: Mapping[str, Any] = {
    "quant_method": "compressed-tensors",
    "format": "pack-quantized",
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": True},
        }
    },
    "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"],
}
"""As Kimi-K2 has it; the other blocks are those of the tiny checkpoints."""


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One command: the thread it is from, the model and how it is stored, and what the release does.

    stored: "int4", or a block of conformance/checkpoints/blocks.py, of which `exclude` is left out besides.
    text: as it would be pasted. fused: how many layers of the target have their shared expert fused.
    """

    report: str
    text: str
    model: str
    verdict: str
    fused: int = 0
    stored: str | None = None
    exclude: tuple[str, ...] = ()
    changes: Mapping[str, Any] = field(default_factory=dict)
    vllm: str | None = None
    gfx: str = "gfx950"
    note: str = ""

    def config(self) -> dict[str, Any]:
        """The model's config."""
        config = changed(seed(self.model), self.changes)
        if self.stored is not None:
            own = self.stored == "int4"
            config["quantization_config"] = dict(INT4) if own else blocks.block(self.stored, self.exclude, {})
        return config


def launches() -> list[Launch]:
    """All of them."""
    rows = json.loads(FILE.read_text())
    return [Launch(**{**row, "exclude": tuple(row.get("exclude", ()))}) for row in rows]


def question(launch: Launch) -> Question:
    """What the doctor is asked on a machine that has nothing to say."""
    machine = Machine(versions={}, gpus=(), plugin="absent")

    def read(_: str) -> Model:
        return model_from_dict(launch.config(), id=launch.report)

    return Question(machine=machine, read=read, environment={}, vllm=launch.vllm, gfx=launch.gfx)


def diagnosis(launch: Launch) -> Diagnosis:
    """What `fse doctor` makes of the command."""
    return examine(question(launch), command.from_text(launch.text))


def case(launch: Launch) -> Case:
    """The same question to the release."""
    found = diagnosis(launch)
    assert found.report is not None
    target = {key: value for key, value in found.report.target.items() if key not in ("env", "quantization_config")}
    target |= {"environment": found.report.target["env"], "overlay": found.report.target["quantization_config"]}
    return Case.from_dict({"name": launch.report, "config": launch.config(), "target": target})


def main() -> int:
    """Run the command line. Its exit code."""
    asked = [launch for launch in launches() if wanted(launch)]
    different = silent = 0
    with Live() as live:
        for each, answer in live.ask_all(map(case, asked)):
            comparison = judge(each, answer)
            different += bool(comparison.differences)
            silent += not comparison.compared
            print(f"{each.name}: {comparison.agreed} of {comparison.compared} agree", flush=True)
            for text in summary(comparison.differences):
                print(text)
    print(f"{len(asked) - different - silent} of {len(asked)} agree; of {silent} the release says nothing here")
    return 1 if different else 0


def wanted(launch: Launch) -> bool:
    """Whether it is to be asked: where the command line names some, those, and nothing that cannot be asked."""
    known = releases.parsed(diagnosis(launch).vllm).numbers >= releases.parsed(OLDEST).numbers
    return known and launch.gfx in GPUS and launch.report in (sys.argv[1:] or (launch.report,))


if __name__ == "__main__":
    sys.exit(main())
