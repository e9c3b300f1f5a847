"""The texts of all rules, and of what is explained as rules are."""

from fse_core import notices, rules
from fse_core.errors import InputError
from fse_core.ruletext import RuleText


def texts() -> tuple[RuleText, ...]:
    """All of them, by their ids."""
    found = [
        RuleText(
            id=one.rule.id,
            name=one.rule.name,
            severity=one.rule.severity,
            confidence=one.rule.confidence,
            text=one.text,
        )
        for one in rules.known()
    ]
    return tuple(sorted((*notices.ALL, *found), key=lambda one: one.id))


def ids() -> dict[str, str]:
    """What a rule may be called, its id in any case or its name, to its id."""
    found = texts()
    return {one.id.lower(): one.id for one in found} | {one.name: one.id for one in found}


def resolve(name: str, known: dict[str, str], where: str) -> str:
    """The id of the rule that is called `name`. InputError, about `where`, if none is."""
    try:
        return known[name.lower()]
    except KeyError:
        import difflib

        close = difflib.get_close_matches(name.lower(), known, n=1)
        shown = [word.upper() if word.upper() in known.values() else word for word in close]
        hint = f"; did you mean {shown[0]}?" if shown else ""
        raise InputError(where, f"no rule is called {name!r}{hint}") from None
