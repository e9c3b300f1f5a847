"""A part of a model, as the plugin's plan makes it."""

from dataclasses import dataclass

from fse_core.plugged.plan import Plan
from fse_core.rules.base import PartFacts


@dataclass(frozen=True, kw_only=True)
class Planned:
    """`facts` has the layers as they are by the plan, which is None where the plugin leaves the part alone.

    trouble: why no plan could be made, where that is so.
    """

    facts: PartFacts
    plan: Plan | None
    trouble: str | None = None

    @property
    def decides(self) -> bool:
        """Whether anything is built otherwise than by the release alone."""
        plan = self.plan
        return plan is not None and (plan.refused is not None or plan.fuses or bool(plan.left_out))

    @property
    def online(self) -> bool:
        """Whether its shared experts are quantized by the plugin while they load."""
        return self.plan is not None and self.plan.online is not None
