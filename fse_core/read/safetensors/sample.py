"""Which files show how a layer is stored: those that hold one of its routed experts and its shared one."""

from collections.abc import Iterable, Mapping, Sequence

from fse_core.read.safetensors.names import LayerName, head_of, role_of

Kinds = Sequence[Sequence[LayerName]]
"""The layers that matter, those of one kind together: any one of a kind stands for it."""


def chosen(weight_map: Mapping[str, str], kinds: Kinds) -> frozenset[str]:
    """As few files as show a layer of each kind, as far as the map has such a layer."""
    heads = _by_head(weight_map)
    files: set[str] = set()
    for kind in kinds:
        found = [heads[head] for layer in kind if (head := head_of(layer, heads)) is not None]
        whole = [its for its in found if its.routed and its.shared] or found
        files |= min((_of_layer(its, files) for its in whole), key=len, default=set())
    return frozenset(files)


class _Files:
    """Where the experts of one layer are."""

    def __init__(self) -> None:
        self.routed: dict[int | None, set[str]] = {}
        self.shared: set[str] = set()


def _by_head(weight_map: Mapping[str, str]) -> Mapping[str, _Files]:
    heads: dict[str, _Files] = {}
    for name, file in weight_map.items():
        role = role_of(name)
        if role is not None:
            its = heads.setdefault(role.head, _Files())
            (its.shared if role.shared else its.routed.setdefault(role.expert, set())).add(file)
    return heads


def _of_layer(its: _Files, files: Iterable[str]) -> set[str]:
    """The files to read on top of those that are read anyway."""
    known = its.shared.union(files)
    routed = min(its.routed.values(), key=lambda expert: len(expert - known), default=set())
    return (its.shared | routed).difference(files)
