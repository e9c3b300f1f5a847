"""What a rule says of itself, to people and to programs."""

from dataclasses import dataclass

from fse_core.report import Confidence, Severity


@dataclass(frozen=True, kw_only=True)
class RuleText:
    """A rule's data and its text: paragraphs between empty lines, in Markdown, the first of which is one sentence."""

    id: str
    name: str
    severity: Severity
    confidence: Confidence
    text: str

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """Each as one line, or as it is where it is indented or a list."""
        return tuple(_unwrapped(block) for block in self.text.strip().split("\n\n"))

    @property
    def summary(self) -> str:
        """The first sentence."""
        return self.paragraphs[0]


def _unwrapped(block: str) -> str:
    lines = block.split("\n")
    if any(line.startswith((" ", "- ", "* ", "|")) for line in lines):
        return block
    return " ".join(lines)
