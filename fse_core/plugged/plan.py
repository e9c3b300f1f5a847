"""What the plugin will do with one model instance."""

from dataclasses import dataclass, field
from typing import Final

OLDEST: Final = "0.24.0"
"""The oldest release whose functions the plugin knows; in older ones it changes nothing."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One model instance: the target, or a draft.

    experts: the prefixes of its fused-or-not expert modules, by the prefixes of their shared experts.
    refused: why no layer may be fused, None where nothing speaks against it.
    online: the format that its full-precision shared experts are quantized to while they load; `asked` is who says so.
    accepted: the kind of checkpoint that the gate need not refuse.
    packed: whether the checkpoint's routed weights have names of their own (`weight_packed`).
    lossy: whether they are stored in FP8, and are brought to full precision first.
    left_out: modules of shared experts that are stored in full precision, though the checkpoint's list does not say so
        in names that the release takes.
    notes: what was asked for and is not done, and why.
    reasons: why layers are separate that nothing was refused for, in the release's words, as far as it has said so.
    """

    experts: dict[str, str]
    refused: str | None = None
    online: str | None = None
    asked: str = ""
    accepted: str | None = None
    packed: bool = False
    lossy: bool = False
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reasons: list[str] = field(default_factory=list)

    @property
    def fuses(self) -> bool:
        """Whether its layers are fused whatever the gate would say."""
        return self.online is not None or self.accepted is not None

    @property
    def key(self) -> str:
        """Tells plans apart that lead to different graphs."""
        return f"refused={self.refused is not None} online={self.online} accepted={self.accepted}"
