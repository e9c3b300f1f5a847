"""What the releases' data states of faults can be used: conditions, classes, parts and consequences that there are."""

from typing import get_args

import pytest

from fse_core import releases
from fse_core.report import Confidence, Consequence, PartName
from fse_core.rules.known_fault import CONDITIONS


@pytest.mark.parametrize("version", releases.known())
def test_what_is_stated_of_faults(version: str) -> None:
    for name, fault in releases.load(version).faults.items():
        assert fault.text, name
        assert fault.source, name
        assert set(fault.when) <= set(CONDITIONS), name
        assert fault.decision in ("fused", "separate", "any"), name
        assert fault.part in (None, *get_args(PartName)), name
        assert fault.consequence in get_args(Consequence), name
        assert fault.confidence in get_args(Confidence), name
