"""The config says that experts are stored in one format, and the tensors' headers say another.

The release makes its parameters by the config. What is stored in another format does not fit them, and loading fails;
or 16-bit numbers are copied into FP8 ones, whose scales are never written: the model answers garbage, without a line in
the log. That happens where a checkpoint's list of left-out modules is incomplete, names them as the release does not
read it, or names what was quantized after all; and where a config was copied from another checkpoint.

Only the headers of the safetensors files show it: this rule is silent without `--headers`.
"""

from collections.abc import Iterator

from fse_core.rules import told
from fse_core.rules.base import Facts, Hit, Rule

RULE = Rule(id="FSE102", name="config-unlike-tensors", about_slots=True)


def check(facts: Facts) -> Iterator[Hit]:
    """Layers whose stored experts do not have the format that the release makes parameters for."""
    yield from told.hits(facts, RULE.id)
