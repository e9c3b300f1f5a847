"""Has releases with the plugin decide about random configs, and compares with `fse check --plugin`.

usage: python -m conformance.plugin.fuzz [--cases 60] [--seed 0] [RELEASE...]
The models are built on the meta device and nothing is loaded, so that plugin and check both go by the config alone.
What does not come to be built tells nothing of the plugin, and is counted apart.
Exit code 1 where any differs, 75 where a release cannot be had.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance import install
from conformance.case import Case
from conformance.checkpoints.tensors import Tensor
from conformance.fuzzing.cases import case
from conformance.plugin.ask import Answer, Start, ask
from conformance.plugin.rows import RELEASES
from fse_core import check
from fse_core.report import Report

_ENVIRONMENTS: tuple[Mapping[str, str], ...] = (
    {},
    {"FSE_ONLINE_SHARED_EXPERTS": "mxfp4,mxfp8,fp8_block"},
    {"FSE_ACCEPT": "compressed-tensors,quark-excluded"},
)
_NONE_FUSED = " MoE layers fused: "


@dataclass(frozen=True)
class Asked:
    """A config without tensors."""

    case: Case

    @property
    def name(self) -> str:
        return self.case.name

    def config(self) -> dict[str, Any]:
        return dict(self.case.config)

    def tensors(self) -> Iterator[Tensor]:
        return iter(())


def cases(release: str, seed: int, count: int) -> Iterator[Case]:
    """Cases that differ in what the plugin is asked for too."""
    chosen = random.Random(seed)
    for number in range(seed * 1_000_000, seed * 1_000_000 + count):
        found = case(number, release)
        variables = {**found.target.environment, **chosen.choice(_ENVIRONMENTS)}
        # One stage and no draft: the harness builds the target as one rank.
        target = replace(found.target, pp=1, draft=False, plugin=True, environment=variables)
        if found.hf_quant_config is None:
            yield replace(found, target=target)


def difference(answer: Answer, ours: Report) -> str | None:
    """How the release and our own check differ, None where they agree or nothing is claimed."""
    if ours.verdict == "undecided" or answer["error"] is not None:
        return None
    if ours.verdict == "fails":
        return f"it starts, ours {ours.startup_error or ours.layers[0].decision.error}"
    theirs = {name.removesuffix(".routed_experts"): count for name, count in answer["slots"].items()}
    for layer in ours.layers:
        if layer.experts in theirs and theirs[layer.experts] != layer.slots:
            reason = layer.decision.reason
            return (
                f"{layer.experts}: {theirs[layer.experts]} slots, ours {layer.slots} ({reason}); {answer['lines'][:2]}"
            )
    said = next((line.partition(_NONE_FUSED)[2] for line in answer["lines"] if _NONE_FUSED in line), None)
    reason = ours.layers[0].decision.reason if ours.layers else None
    if said is not None and reason is not None and said != reason:
        return f"it says {said!r}, ours {reason!r}"
    return None


def main() -> int:
    """Run the command line. Its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("releases", nargs="*", metavar="RELEASE", default=RELEASES)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="show what the release prints")
    arguments = parser.parse_args()
    bad = 0
    for release in arguments.releases:
        if install.ready(release) == install.UNAVAILABLE:
            return install.UNAVAILABLE
        told: Counter[str] = Counter()
        asked = list(cases(release, arguments.seed, arguments.cases))
        by_name = {one.name: one for one in asked}
        for start, answer in ask(map(_start, asked), verbose=arguments.verbose):
            one = by_name[start.checkpoint.name]
            ours = check(one.model(), one.target)
            found = difference(answer, ours)
            told["differs" if found else "not built" if answer["error"] else ours.verdict] += 1
            if found:
                print(f"{release} {one.name}: {found}", flush=True)
        print(
            f"{release}: {len(asked)} asked, " + ", ".join(f"{n} {what}" for what, n in sorted(told.items())),
            flush=True,
        )
        bad += told["differs"]
    return 1 if bad else 0


def _start(one: Case) -> Start:
    options = one.target_options()
    environment = options.pop("environment", {})
    for name in ("vllm", "gfx", "draft", "plugin"):
        options.pop(name, None)
    return Start(
        checkpoint=Asked(one),
        release=one.target.vllm,
        plugin=True,
        gfx=one.target.gfx,
        options=options,
        environment=environment,
    )


if __name__ == "__main__":
    sys.exit(main())
