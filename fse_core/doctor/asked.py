"""What comes out of asking an installed vLLM: `fse.ask/1`, before it is written."""

from dataclasses import dataclass

from fse_core.report import Failure, Report


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the installed vLLM, which calls itself `version`, did with the model, and how that compares with `report`.

    pretended: whether it was told that this machine has AMD GPUs, which it has not, or others.
    fused, separate: how many layers of the target it built with slots for shared experts, and without.
    compared: layers, and the start itself, about which it said something; `agreed` of them as predicted.
    """

    report: Report
    version: str
    pretended: bool
    fused: int
    separate: int
    error: Failure | None
    compared: int
    agreed: int
    differences: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether it did what was predicted."""
        return self.compared > 0 and not self.differences
