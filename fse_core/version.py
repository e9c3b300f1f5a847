"""The version of this package, which every report names as its engine."""

__version__ = "0.1.0"
