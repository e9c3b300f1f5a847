"""The index of a converted checkpoint: the source's text, with the new scales after their weights."""

import json
from collections.abc import Sequence

from fse_core.convert.checkpoint import Checkpoint
from fse_core.convert.experts import Conversion
from fse_core.convert.jsontext import Item, locate, own, rewritten


def new_index(text: str, checkpoint: Checkpoint, found: Sequence[Conversion]) -> str:
    """The source's index `text` for the shards as they will be."""
    after: dict[str, list[str]] = {}
    gone: set[str] = set()
    grown = 0
    for one in found:
        weight = one.shared.weight.name
        gone |= {tensor.name for tensor in one.shared.tensors.values()}
        after[weight] = [tensor.name for tensor in one.outputs]
        grown += sum(t.size for t in one.outputs) - sum(t.size for t in one.shared.tensors.values())
    start = locate(text, ("weight_map",))
    assert start is not None
    source = text

    def change(item: Item) -> Sequence[str]:
        assert item.key is not None
        if item.key not in gone:
            return own(source, item)
        shard = json.dumps(item.value)
        return [f"{json.dumps(name)}: {shard}" for name in after.get(item.key, ())]

    return _resized(rewritten(text, start, change), grown)


def _resized(text: str, grown: int) -> str:
    start = locate(text, ("metadata",))
    if start is None or text[start] != "{":
        return text
    source = text

    def change(item: Item) -> Sequence[str]:
        if item.key == "total_size" and isinstance(item.value, int):
            return [f"{source[item.start : item.value_start]}{item.value + grown}"]
        return own(source, item)

    return rewritten(text, start, change)
