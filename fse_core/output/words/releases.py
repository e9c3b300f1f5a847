"""What the formats of known releases for people share."""

from collections.abc import Iterator

from fse_core.releases.delta import Delta, deltas
from fse_core.releases.release import Fault, Release
from fse_core.request import FUSION
from fse_core.target import Target

NO_GATE = "none: it fuses without asking"
NOTHING = "nothing is known that bears on fusion"


def gate_words(release: Release) -> str:
    """The questions of the gate in their order, or that there is none."""
    return ", ".join(release.branches) or NO_GATE


def default_words(release: Release) -> str:
    """Whether fusion is on unless the environment says otherwise, AITER being on."""
    return "on" if Target(environment={FUSION: release.environment[FUSION]}).is_on(FUSION) else "off"


def gpu_words(release: Release) -> str:
    """The GPUs on which AITER is used at all."""
    return ", ".join(sorted(release.fusing_gfx, key=lambda gfx: (len(gfx), gfx)))


def delta_words(delta: Delta) -> str:
    """`classes that fuse: + A, B; - C`."""
    signed = (("+", delta.added), ("-", delta.removed))
    return f"{delta.name}: " + "; ".join(f"{sign} {', '.join(names)}" for sign, names in signed if names)


def new_in(before: Release | None, release: Release) -> Iterator[Delta]:
    """What differs from the release before, of what a reader asks for; nothing for the first, which is all new."""
    return deltas(before, release) if before is not None else iter(())


def fault_words(fault: Fault) -> str:
    """What goes wrong, for whom, and how it is known."""
    whom = f" ({', '.join(sorted(fault.classes))})" if fault.classes else ""
    return f"{fault.text}{whom} [{fault.source}]"
