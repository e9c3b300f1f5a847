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
    total = sum(tensor.size for _, tensor in checkpoint.places.values())
    for one in found:
        weight = one.shared.weight.name
        gone |= {tensor.name for tensor in one.shared.tensors.values()}
        after[weight] = [tensor.name for tensor in one.outputs]
        total += sum(t.size for t in one.outputs) - sum(t.size for t in one.shared.tensors.values())
    start = locate(text, ("weight_map",))
    assert start is not None
    source = text

    def change(item: Item) -> Sequence[str]:
        assert item.key is not None
        if item.key not in gone:
            return own(source, item)
        shard = json.dumps(item.value)
        return [f"{json.dumps(name)}: {shard}" for name in after.get(item.key, ())]

    return _resized(rewritten(text, start, change), total)


def _resized(text: str, total: int) -> str:
    """With the true size, whatever stood there: a source may have a wrong one, or a float."""
    start = locate(text, ("metadata",))
    if start is None or text[start] != "{":
        return text
    source = text

    def change(item: Item) -> Sequence[str]:
        if item.key == "total_size":
            return [f"{source[item.start : item.value_start]}{total}"]
        return own(source, item)

    return rewritten(text, start, change)
