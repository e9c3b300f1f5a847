"""Lets the vLLM of this very environment decide about one model, and holds what it did against the prediction.

In: one JSON object on stdin, `{"config": {...}, "hf_quant_config": null, "target": {...}, "pretend": true}`. Out: one,
`{"version": ..., "fused": 58, ..., "compared": 59, "agreed": 59, "differences": []}`, or `{"failed": "..."}`.
"""

import json
import os
import sys
from typing import Any

from conformance.case import Case
from conformance.compare import judge, summary
from conformance.live import build
from conformance.live.server import import_release


def asked(question: dict[str, Any]) -> dict[str, Any]:
    """The answer, and how it compares. Never raises."""
    try:
        import_release(pretend=question["pretend"])
        from vllm.version import __version__
    except BaseException as error:  # whatever is wrong with the installation
        return {"failed": f"vLLM cannot be imported: {type(error).__name__}: {error}"}
    case = Case.from_dict({"name": "model", **{key: question[key] for key in ("config", "hf_quant_config", "target")}})
    answer = build.answer(case.as_dict())
    comparison = judge(case, answer)
    return {
        "version": __version__,
        "fused": sum(1 for row in answer["built"] if row["part"] == "target" and row["slots"]),
        "separate": sum(1 for row in answer["built"] if row["part"] == "target" and not row["slots"]),
        "error": answer["error"],
        "compared": comparison.compared,
        "agreed": comparison.agreed,
        "differences": list(summary(comparison.differences)),
    }


def main() -> None:
    """Answer the one question."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the release prints to stdout, where only the answer belongs
    print(json.dumps(asked(json.load(sys.stdin))), file=answers, flush=True)
    os._exit(0)  # what the release left running is not waited for


if __name__ == "__main__":
    main()
