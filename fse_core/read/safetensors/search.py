"""Finds the files that show how layers are stored without an index, which may take longer to read than they do.

The files of a large checkpoint follow its layers, by number or by the text of their numbers; a header says which layers
its file holds. So a layer is found as a word in a dictionary is.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from fse_core.read.safetensors.facts import Header, Headers, Tensor
from fse_core.read.safetensors.layer import LayerTensors, is_whole, layer_tensors
from fse_core.read.safetensors.names import LayerName, head_of
from fse_core.read.safetensors.sample import Kinds

_MOST_READ: Final = 10
"""Files that are read for one kind before the search is given up."""

Read = Callable[[str], Header | None]
"""A file's header, None where it has none that can be read."""

Order = Callable[[int], str]
"""What the layers' numbers are sorted by."""


def found(files: Sequence[str], kinds: Kinds, read: Read) -> bool:
    """Reads files until a layer of each kind is known. False where they do not lie as they should."""
    search = _Search(files, read)
    last = max((layer.number or 0 for kind in kinds for layer in kind), default=0) + 1
    return all(search.kind(kind, last) for kind in kinds)


class _Search:
    def __init__(self, files: Sequence[str], read: Read) -> None:
        self.files = files
        self.read = read
        self.known: dict[int, Headers] = {}  # by the file's place; those that could not be read are empty
        self.all: dict[str, Tensor] = {}
        self.keys: dict[Order, list[str]] = {}

    def kind(self, kind: Sequence[LayerName], last: int) -> bool:
        for _ in range(_MOST_READ):
            if self._complete(kind):
                return True
            place = self._next(kind, last)
            if place is None:
                return False
            self._look(place)
        return self._complete(kind)

    def _look(self, place: int) -> None:
        header = self.read(self.files[place])
        tensors: Mapping[str, Tensor] = {} if header is None else header.tensors
        self.known[place] = Headers(tensors=tensors, files={})
        self.all.update(tensors)

    def _complete(self, kind: Sequence[LayerName]) -> bool:
        headers = Headers(tensors=self.all, files={})
        return any(_whole(found) for layer in kind if (found := layer_tensors(headers, layer)) is not None)

    def _next(self, kind: Sequence[LayerName], last: int) -> int | None:
        """The place to look at next: beside a file with a part of such a layer, else nearer to where it must be."""
        holding = [place for place, headers in self.known.items() if self._holds(headers, kind)]
        for place in sorted(holding, reverse=True):
            for beside in (place + 1, place - 1):
                if 0 <= beside < len(self.files) and beside not in self.known:
                    return beside
        numbers = sorted(layer.number for layer in kind if layer.number is not None)
        if not numbers or holding:  # a draft's own room comes last, if anywhere
            return self._nearest(len(self.files) - 1, 0, len(self.files))
        wanted = numbers[len(numbers) // 2]
        for order in sorted((_by_number, _by_text), key=lambda order: self._error(order, last)):
            low, high = self._bounds(wanted, order)
            likely = self._likely(wanted, order, last)
            place = likely if likely not in self.known and low <= likely < high else (low + high) // 2
            nearest = self._nearest(place, low, high)
            if nearest is not None:
                return nearest
        return None

    def _holds(self, headers: Headers, kind: Sequence[LayerName]) -> bool:
        return any(head_of(layer, headers.by_head) is not None for layer in kind)

    def _likely(self, number: int, order: Order, last: int) -> int:
        """Where the layer is if all of them take as much room."""
        keys = self.keys.setdefault(order, sorted(map(order, range(last))))
        return len(self.files) * (2 * bisect_left(keys, order(number)) + 1) // (2 * last)

    def _error(self, order: Order, last: int) -> int:
        """How far the files that were read are from where they should be in that order."""
        return sum(
            min(abs(self._likely(number, order, last) - place) for number in numbers)
            for place, headers in self.known.items()
            if (numbers := _numbers(headers))
        )

    def _bounds(self, wanted: int, order: Order) -> tuple[int, int]:
        """Between which places the layer must be, if files follow layers in that order; nowhere if they do not."""
        low, high = 0, len(self.files)
        for place, headers in sorted(self.known.items()):
            keys = [order(number) for number in _numbers(headers)]
            if not keys:
                continue
            if max(keys) < order(wanted):
                low = max(low, place + 1)
            elif min(keys) > order(wanted):
                high = min(high, place)
        return low, high

    def _nearest(self, middle: int, low: int, high: int) -> int | None:
        """The place nearest to the middle that was not looked at."""
        left = [place for place in range(low, high) if place not in self.known]
        return min(left, key=lambda place: abs(place - middle), default=None)


def _numbers(headers: Headers) -> list[int]:
    """Of the layers that the headers hold experts of."""
    return [int(head.rpartition(".")[2]) for head in headers.by_head]


def _by_number(number: int) -> str:
    return f"{number:06}"


def _by_text(number: int) -> str:
    return str(number)


def _whole(layer: LayerTensors) -> bool:
    """Whether one routed expert and the shared one are there with all their parts."""
    return is_whole(layer.shared) and any(is_whole(expert) for expert in layer.routed.values())
