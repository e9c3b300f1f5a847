"""Small configs, written from facts of real checkpoints, and what each rule has to say of them: something, or nothing.

Each module has `SITUATIONS`, which `test_situations.py` collects.
"""

from dataclasses import dataclass, field
from typing import Any

from fse_core import Report
from fse_core.report import Finding
from tests.models import asked
from tests.rules.cases import of


@dataclass(frozen=True, kw_only=True)
class Situation:
    """A config with a quantization block, a target, and what `rule` says of it.

    silent: the rule says nothing. Else `words` are in the message, `fix` is a piece of a fix's data as text, and
    the other fields are the finding's own where they are not None.
    """

    rule: str
    name: str
    block: dict[str, Any] | None
    config: dict[str, Any]
    target: dict[str, Any] = field(default_factory=dict)
    silent: bool = False
    words: tuple[str, ...] = ()
    fix: str | None = None
    consequence: str | None = None
    confidence: str | None = None
    layers: str | None = None
    part: str = "target"

    def report(self) -> Report:
        return asked(self.block, self.config, **self.target)

    def said(self) -> list[Finding]:
        return of(self.report(), self.rule, self.part)
