"""What the plugin will do with one model instance, and which one is being built or loaded now."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


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
    reasons: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        """Tells plans apart that lead to different graphs."""
        return f"refused={self.refused is not None} online={self.online} accepted={self.accepted}"


_active: list[Plan] = []


@contextmanager
def active(plan: Plan) -> Iterator[None]:
    """Everything inside is about this plan's model."""
    _active.append(plan)
    try:
        yield
    finally:
        _active.pop()


def current() -> Plan | None:
    """The plan of the model that is being built or loaded, None outside of that."""
    return _active[-1] if _active else None


def refused() -> bool:
    """Whether the model that is being built or loaded must not be fused."""
    plan = current()
    return plan is not None and plan.refused is not None
