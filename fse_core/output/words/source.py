"""Where a model came from, and what it is, in a line each."""

from fse_core.report import Source


def source_words(source: Source) -> str:
    """`org/name at main, commit c0ffee`, a path, or standard input."""
    if source.kind != "hub":
        return "standard input" if source.kind == "inline" else source.id
    at = f" at {source.revision}" if source.revision else ""
    commit = f", commit {source.commit}" if source.commit and source.commit != source.revision else ""
    return f"{source.id}{at}{commit}"


def model_words(architecture: str | None, layer_count: int | None) -> str:
    """The architecture and the number of layers."""
    layers = [] if layer_count is None else [f"{layer_count} layers"]
    return ", ".join([architecture or "no architecture named", *layers])
