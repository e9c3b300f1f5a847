"""Our own words about a release, so that they are equal for equal causes."""

import re

from fse_core.report import Report


def nameless(text: str, report: Report) -> str:
    """`text` without the name of the report's release, which is told beside it."""
    name = re.escape(f"vLLM {report.target['vllm']}") + r"(?![\w.]*\d)"
    return re.sub(name, "this release", re.sub(rf"(^|\. ){name}", r"\1This release", text))
