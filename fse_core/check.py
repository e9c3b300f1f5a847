"""The question that this package answers."""

from typing import TYPE_CHECKING

from fse_core.report import Report
from fse_core.target import Target

if TYPE_CHECKING:
    from fse_core.read.model import Model


def check(model: "Model", target: Target) -> Report:
    """What the release named by the target does with every layer of the model.

    A question that cannot be answered is a report with verdict `undecided` and its reason. InputError is raised only
    for a target that is none: an unknown release, or a backend that the release does not have.
    """
    from fse_core.remedies import run  # loaded when first asked: whoever only imports the package does not wait for it

    return run(model, target)
