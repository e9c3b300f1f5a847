"""A fault of loading in plain words."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fse_core.loads.faults import Fault

_SHOWN: Final = 4


def message(fault: "Fault", *, fused: bool) -> str:
    """What is stored, what was made for it, and what comes of it. `fused` tells where the shared expert goes."""
    then = f"Loading ends in {_article(fault.error)}." if fault.error else _unset(fault)
    return f"{_what(fault, 'slot' if fused else 'module')}. {then}"


def _what(fault: "Fault", place: str) -> str:
    if fault.cause == "absent":
        return "the config knows of a draft, and nothing is stored of this layer"
    if fault.cause == "batched":
        return f"the routed experts are stored in one tensor, {fault.stored}, and the class takes them one by one"
    if fault.cause == "unfilled":
        return "the class brings nothing of the shared expert to its slot"
    if fault.cause == "surplus":
        return f"there is {_who(fault)}, and by the config there are fewer"
    target = "the fused parameters" if fault.side == "routed" else f"its {place}"
    name = fault.leaf if fault.leaf.startswith("weight") else f"weight's {fault.leaf}"
    whose = f"{_whose(fault)} {fault.kind} {name}"
    if not fault.stored:
        return f"nothing is stored of {whose}, for which {target} {_have(fault)} {fault.made}"
    if not fault.made:
        return f"{whose} is {fault.stored}, and {target} {_have(fault)} no parameter that it goes to"
    return f"{whose} is {fault.stored}, and {target} {_have(fault)} {fault.made}"


def _have(fault: "Fault") -> str:
    return "have" if fault.side == "routed" else "has"


def _who(fault: "Fault") -> str:
    numbers = ", ".join(map(str, fault.experts[:_SHOWN])) + (", ..." if len(fault.experts) > _SHOWN else "")
    return f"routed expert{'s' * (len(fault.experts) > 1)} {numbers}"


def _whose(fault: "Fault") -> str:
    if fault.side == "shared":
        return "the shared expert's"
    return f"{_who(fault)}'s" if fault.experts else "the routed experts'"


def _article(error: str) -> str:
    return f"{'an' if error[0] in 'AEIOU' else 'a'} {error}"


def _unset(fault: "Fault") -> str:
    told = " and ".join(f"{left.bytes:,} of {left.of:,} bytes of {left.parameter}" for left in fault.left)
    return f"Loading raises nothing, and leaves {told} as they were in memory."
