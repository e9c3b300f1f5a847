"""Rewrites a checkpoint so that its shared experts are stored like its routed ones, and verifies what was written."""

from fse_core.convert.disk import CannotWrite
from fse_core.convert.plan import Plan, make_plan
from fse_core.convert.run import run
from fse_core.convert.verify import Verified, verify

__all__ = ["CannotWrite", "Plan", "Verified", "make_plan", "run", "verify"]
