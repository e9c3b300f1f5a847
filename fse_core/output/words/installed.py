"""What the formats of a recognised installation share."""

from collections.abc import Iterator

from fse_core.releases.installed import Installed


def calls_itself(found: Installed) -> str:
    """What the package says of itself."""
    return "does not say which version it is" if found.version is None else f"calls itself {found.version}"


def verdict(found: Installed) -> str:
    """Which release it is."""
    names = " and ".join(found.releases)
    if found.kind == "unknown":
        return "unknown: none of the functions on which answers rest is as any known release has it"
    if found.kind == "identical":
        return f"identical to {names} in all {found.compared} functions on which answers rest"
    count = len(found.differing)
    return f"closest to {names}, but {count} of {found.compared} functions on which answers rest differ{_s(count)}"


def _s(count: int) -> str:
    return "s" if count == 1 else ""


def functions(found: Installed) -> Iterator[tuple[str, str]]:
    """Each function that differs, and how."""
    return ((name, "is not there" if name in found.absent else "reads otherwise") for name in found.differing)
