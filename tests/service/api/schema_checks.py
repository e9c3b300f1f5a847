"""A check of ours for schemathesis: what the document allows is refused only where it says that it may be.

Not every release takes every backend, and a version may be older than all that are known: no schema of single
parameters can state that. Everything else that keeps to the document has to be accepted.
"""

import re
from typing import Any

import schemathesis
from schemathesis.generation import GenerationMode

_BY_RELEASE = ("moe_backend", "all2all_backend", "vllm", "from", "to")


@schemathesis.check
def refused_for_its_release(ctx: Any, response: Any, case: Any) -> None:
    if response.status_code != 422 or case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    told = response.json()
    named = re.split(r"[.:]", told["path"])[-1]
    assert named in _BY_RELEASE, f"{told['path']}: {told['detail']}"
