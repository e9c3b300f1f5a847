"""fse: what a vLLM release on ROCm does with the shared experts of a Mixture-of-Experts model, layer by layer."""

from fse_core.check import check
from fse_core.report import Report
from fse_core.target import Target
from fse_core.version import __version__

__all__ = ["Report", "Target", "__version__", "check"]
