"""How a place's file is called by tools that look for it."""

import os
from urllib.parse import quote

from fse_core.report import Place


def relative(place: Place) -> str | None:
    """The path from the working folder, with slashes; None where the file is not below it, or is none."""
    if place.file.startswith("hf://") or place.file == "stdin":
        return None
    path = os.path.relpath(place.file) if os.path.isabs(place.file) else os.path.normpath(place.file)
    return None if path.startswith("..") else path.replace(os.sep, "/")


def uri(place: Place) -> tuple[str, bool]:
    """The file as a URI reference, and whether it is relative to the working folder."""
    path = relative(place)
    if path is not None:
        return quote(path), True
    if place.file.startswith("hf://") or place.file == "stdin":
        return quote(place.file, safe="/:@"), False
    return "file://" + quote(os.path.abspath(place.file).replace(os.sep, "/")), False
