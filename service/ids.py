"""What a model's id and a revision may be, by the Hub's rules. No URL passes."""

import re
from typing import Final

from fse_core.errors import InputError
from fse_core.read.getters import shown

# Without look-around, so that a tool can make up examples from the pattern; what the Hub refuses beyond that it does
# not have, either.
_NAME: Final = r"[A-Za-z0-9_]+(?:(?:-|\.|-\.|\.-)[A-Za-z0-9_]+)*"
_REVISION: Final = r"[!-)+,0-9;->@-Z\]_-}](?:[./]?[!-)+,0-9;->@-Z\]_-}-])*"

PART_MOST: Final = 96
REVISION_MOST: Final = 255
FULL_MOST: Final = 2 * PART_MOST + REVISION_MOST

PART: Final = f"^{_NAME}$"
"""An owner's or a model's name, as OpenAPI shows it."""

REVISION: Final = f"^{_REVISION}$"
"""A branch, a tag or a commit, in ASCII."""

FULL: Final = f"^{_NAME}/{_NAME}(?:@{_REVISION})?$"
"""`org/name` or `org/name@revision`."""

_PART: Final = re.compile(_NAME)
_WHOLE: Final = re.compile(f"{_NAME}/{_NAME}(?:@{_REVISION})?")
_WHOLE_REVISION: Final = re.compile(_REVISION)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


def model(org: str, name: str) -> str:
    """`org/name`, or an InputError."""
    full = f"{org}/{name}"
    if not (_PART.fullmatch(org) and _PART.fullmatch(name) and max(len(org), len(name)) <= PART_MOST):
        raise InputError("model", f"expected a Hub id such as org/name, got {shown(full)}")
    return full


def model_and_revision(text: str, path: str) -> tuple[str, str]:
    """What `org/name` or `org/name@revision` names."""
    if len(text) > FULL_MOST or not _WHOLE.fullmatch(text):
        raise InputError(path, f"expected a Hub id such as org/name or org/name@revision, got {shown(text)}")
    full, _, given = text.partition("@")
    return full, given or "main"


def revision(text: str) -> str:
    """A branch, a tag or a commit, or an InputError."""
    if len(text) > REVISION_MOST or not _WHOLE_REVISION.fullmatch(text):
        raise InputError("revision", f"expected a branch, a tag or a commit, got {shown(text)}")
    return text


def is_commit(text: str) -> bool:
    """Whether the revision can never stand for something else."""
    return _COMMIT.fullmatch(text) is not None
