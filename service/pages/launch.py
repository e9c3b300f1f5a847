"""The command that serves a model as a report's target says, and what a draft needs besides."""

from fse_core.launch import command

DRAFT_FLAG = """--speculative-config '{"method": "mtp", "num_speculative_tokens": 1}'"""
"""What loads a checkpoint's own draft layers beside the model."""

__all__ = ["DRAFT_FLAG", "command"]
