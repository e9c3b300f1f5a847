"""fse: what a vLLM release on ROCm does with the shared experts of a Mixture-of-Experts model, layer by layer."""

from fse_core.check import check
from fse_core.report import Report
from fse_core.target import Target

__version__ = "0.1.0"
__all__ = ["Report", "Target", "check"]
