"""What a sample of the headers says of a layer: the experts that were read, and those that the index names."""

from collections.abc import Iterator
from dataclasses import replace

from fse_core.read.safetensors.facts import Headers, Tensor
from fse_core.read.safetensors.layer import Expert, LayerTensors, expert_of, is_whole
from fse_core.read.safetensors.names import Role


def sampled(headers: Headers, tensors: LayerTensors) -> LayerTensors | None:
    """The layer without what was read of it by half; None where that is no routed expert, or the shared one.

    By the index where it was read; else by what the projections of an expert have in common.
    """
    if headers.listed is None:
        read = {number: expert for number, expert in tensors.routed.items() if is_whole(expert)}
        known = read and is_whole(tensors.shared)
        return replace(tensors, routed=read, read=frozenset(read), whole=False) if known else None
    unread = [role for role, name in headers.listed_by_head.get(tensors.head, ()) if name not in headers.tensors]
    others = {role.expert for role in unread if not role.shared}
    read = {number: expert for number, expert in tensors.routed.items() if number not in others}
    if not read or None in others or any(role.shared for role in unread):
        return None
    return replace(tensors, routed=read, read=frozenset(read), whole=False)


def listed(headers: Headers, head: str, sample: LayerTensors) -> LayerTensors | None:
    """The layer as the index names its tensors, each stored as in the sample, which is of this layer or one of its
    kind. None where the index was not read, or names what the sample has nothing like.
    """
    members = headers.listed_by_head.get(head, ())
    made = [(role, _tensor(headers, role, name, sample)) for role, name in members]
    if not made or any(tensor is None for _, tensor in made):
        return None
    numbers = sorted({role.expert for role, _ in made if not role.shared}, key=lambda number: number or 0)
    own = head == sample.head
    return LayerTensors(
        head=head,
        routed={number: expert_of(_of(made, number, shared=False)) for number in numbers},
        shared=expert_of(_of(made, None, shared=True)),
        read=sample.read if own else frozenset(),
        shared_read=own,
    )


def _tensor(headers: Headers, role: Role, name: str, sample: LayerTensors) -> Tensor | None:
    """The tensor itself where it was read, else one like it."""
    read = headers.tensors.get(name)
    if read is not None:
        return read
    experts: Iterator[Expert] = iter([sample.shared] if role.shared else sample.routed.values())
    parts = (expert[role.kind].parts for expert in experts if role.kind in expert)
    return next((found[role.leaf] for found in parts if role.leaf in found), None)


def _of(made: list[tuple[Role, Tensor | None]], number: int | None, *, shared: bool) -> Iterator[tuple[Role, Tensor]]:
    for role, tensor in made:
        if tensor is not None and role.shared == shared and (shared or role.expert == number):
            yield role, tensor
