"""Index, files and headers held against each other: what does not fit is data, for rules to judge.

A release reads the files that the index names, each as a whole, and refuses to start where one of them is missing
(model_executor/model_loader/weight_utils.py:590 at 0.33.0). It looks at no tensor's place in the index.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from fse_core.errors import InputError
from fse_core.read.getters import shown
from fse_core.read.safetensors.facts import INDEX_FILE, File, Header, Headers, Problem, ProblemKind, Tensor
from fse_core.read.safetensors.index import Index

Read = Mapping[str, Header | InputError]
"""What came of each file that was to be read."""

_SHOWN: Final = 20
_NUMBERED: Final = re.compile(r"(.*-)(\d{1,6})(-of-)(\d{1,6})(\.safetensors)")


def reconciled(read: Read, index: Index | None, present: frozenset[str], *, complete: bool) -> Headers:
    """The headers with all problems. `present` are the files that are there; not `complete`: some were not read."""
    headers = {name: header for name, header in read.items() if isinstance(header, Header)}
    tensors: dict[str, Tensor] = {}
    doubled: dict[str, list[str]] = {}
    for file in sorted(headers):
        for name, tensor in headers[file].tensors.items():
            if name in tensors:
                doubled.setdefault(file, []).append(name)
            else:
                tensors[name] = tensor
    whole = complete and len(headers) == len(read)
    problems = [*_of_files(read, index, present)]
    problems += [
        _about("doubled_tensor", file, names, "holds {} that another file holds too") for file, names in doubled.items()
    ]
    if index is not None:
        problems += _of_tensors(headers, tensors, index, whole and present.issuperset(index.weight_map.values()))
    return Headers(
        tensors=tensors,
        files={
            name: File(name=name, size=header.size, tensors=len(header.tensors), metadata=header.metadata)
            for name, header in headers.items()
        },
        problems=tuple(problems),
        complete=whole,
        listed=None if index is None else index.weight_map,
    )


def _about(kind: ProblemKind, file: str, names: list[str], what: str) -> Problem:
    first = ", ".join(map(shown, names[:3])) + (", ..." if len(names) > 3 else "")
    count = "one tensor" if len(names) == 1 else f"{len(names):,} tensors"
    message = f"{what.format(count)}: {first}"
    return Problem(kind=kind, file=file, message=message, tensors=tuple(names[:_SHOWN]), count=len(names))


def _of_files(read: Read, index: Index | None, present: frozenset[str]) -> Iterator[Problem]:
    if index is not None:
        named: dict[str, list[str]] = {}
        for tensor, file in index.weight_map.items():
            named.setdefault(file, []).append(tensor)
        for file in sorted(named.keys() - present):
            yield _about("missing_file", file, named[file], "is not there, and by the index holds {}")
        for file in sorted(present - named.keys()):
            yield Problem(kind="stray_file", file=file, message="the index does not name it, so it is not loaded")
    else:
        for file in _gaps(present):
            yield Problem(kind="missing_file", file=file, message="one of a numbered set, and it is not there")
    if not present and index is None:
        yield Problem(kind="no_files", file="", message="there is no safetensors file")
    for file, header in sorted(read.items()):
        if isinstance(header, InputError):
            yield Problem(kind="unreadable_file", file=file, message=str(header))
        elif header.odd:
            yield Problem(
                kind="metadata", file=file, message=f"__metadata__ holds what is no text: {', '.join(header.odd[:3])}"
            )


def _gaps(present: frozenset[str]) -> Iterator[str]:
    """Files that the names of others promise: `model-00003-of-00004.safetensors`."""
    sets = {}
    for file in present:
        found = _NUMBERED.fullmatch(file)
        if found and 0 < int(found[4]) <= 10_000:
            sets[found[1], found[4]] = found
    for found in sets.values():
        for number in range(1, int(found[4]) + 1):
            name = f"{found[1]}{number:0{len(found[2])}}{found[3]}{found[4]}{found[5]}"
            if name not in present:
                yield name


def _of_tensors(
    headers: Mapping[str, Header], tensors: Mapping[str, Tensor], index: Index, whole: bool
) -> Iterator[Problem]:
    missing: dict[str, list[str]] = {}
    misplaced: dict[str, list[str]] = {}
    for name, file in index.weight_map.items():
        header = headers.get(file)
        if header is None or name in header.tensors:
            continue
        (misplaced if name in tensors else missing).setdefault(file, []).append(name)
    for file, names in missing.items():
        yield _about("missing_tensor", file, names, "lacks {} that the index puts into it")
    for file, names in misplaced.items():
        yield _about("misplaced_tensor", file, names, "lacks {} that the index puts into it and another file holds")
    for file, header in sorted(headers.items()):
        unlisted = [name for name in header.tensors if name not in index.weight_map]
        if unlisted:
            yield _about("unlisted_tensor", file, unlisted, "holds {} that the index does not name")
    if whole and index.total_size is not None:
        total = sum(tensor.bytes for header in headers.values() for tensor in header.tensors.values())
        if total != index.total_size:
            yield Problem(
                kind="total_size",
                file=INDEX_FILE,
                message=f"states a total_size of {index.total_size:,} bytes, and the tensors take {total:,}",
            )
