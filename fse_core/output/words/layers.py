"""Layers that share one answer, together; see `fse_core.grouping`."""

from fse_core.grouping import Group, groups, numbers

__all__ = ["Group", "groups", "numbers"]
