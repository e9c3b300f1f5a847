"""Which plan is in force: that of the model instance that is being built or loaded now."""

from collections.abc import Iterator
from contextlib import contextmanager

from fse_core.plugged.plan import Plan

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
