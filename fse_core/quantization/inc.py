"""INCConfig: Intel Neural Compressor, which reads auto-round checkpoints."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from fse_core.names import Rename
from fse_core.quantization.base import Quantization, Question, demand
from fse_core.quantization.matching import NameList
from fse_core.quantization.reading import Listed
from fse_core.quantization.storage import Storage, Stored
from fse_core.read.getters import Fields
from fse_core.read.model import Model
from fse_core.releases.release import Release

PACKED_MXFP4 = Storage(name="auto-round's MXFP4", weight="elsewhere", scales="group")
_REGULAR = frozenset("*+?^$()[]{}|\\")


@dataclass(frozen=True, kw_only=True)
class Inc(Quantization):
    """`left_out` are the keys of `extra_config` that ask for 16 bits; `mxfp4`: all else is MXFP4.

    Source: model_executor/layers/quantization/inc/inc.py:274 and config_parser.py:87 at 0.33.0.
    """

    class_name: ClassVar[str] = "INCConfig"

    left_out: NameList
    mxfp4: bool

    @classmethod
    def parse(cls, fields: Fields, model: Model, release: Release) -> Self:
        for key in ("bits", "group_size"):
            demand(fields, key)
        mxfp4 = (fields.get("bits"), fields.get("group_size")) == (4, 32)
        return cls(
            left_out=NameList(list(_left_out(fields))),
            mxfp4=mxfp4
            and str(fields.get("data_type")).startswith("mx_fp")
            and not fields.get("block_name_to_quantize"),
        )

    def renamed(self, rename: Rename) -> Self:
        return type(self)(left_out=self.left_out.renamed(rename), mxfp4=self.mxfp4)

    def numbered(self) -> bool:
        return self.left_out.numbered

    def stored(self, question: Question) -> Stored | None:
        """Only of MXFP4, all of whose blocks are quantized, is it known how the routed experts are stored."""
        if not self.mxfp4:
            return None
        listed = Listed(entries=self.left_out, keys=("extra_config",), skips=self._skips)
        return listed.stored(question, PACKED_MXFP4)

    def _skips(self, name: str) -> bool:
        """By the whole name, the end of it, or a regular expression that is found in it."""
        ends = any(name.endswith(f".{entry}") for entry in self.left_out.entries if not entry.startswith("re:"))
        return ends or self.left_out.matches(name)


def _left_out(fields: Fields) -> Iterator[str]:
    """As entries of a list. What is to be a regular expression and is none, the release passes over."""
    extra = fields.get("extra_config")
    for key, value in extra.items() if isinstance(extra, dict) else ():
        bits = value.get("bits") if isinstance(value, dict) else None
        if not isinstance(bits, int | float) or bits < 16:
            continue
        if not _REGULAR.intersection(key):
            yield key
        elif _is_regular(key):
            yield f"re:.*(?:{key})"


def _is_regular(key: str) -> bool:
    try:
        re.compile(key)
    except re.error:
        return False
    return True


CLASS = Inc
