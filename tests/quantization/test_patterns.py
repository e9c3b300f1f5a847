"""The fast look-up of names and patterns answers as the plain one does."""

import fnmatch
import re

from hypothesis import given
from hypothesis import strategies as st

from fse_core.quantization.matching import NameList
from fse_core.quantization.patterns import LayerIndex, glob, regular

NAMES = st.builds(
    "{}layers.{}.{}{}".format,
    st.sampled_from(["model.", "", "language_model.model."]),
    st.integers(0, 12),
    st.sampled_from(["mlp.experts", "mlp.shared_experts", "self_attn"]),
    st.sampled_from(["", ".gate_proj", ".down_proj", ".q_a_proj"]),
)
PIECES = ["layers.1.", "layers.1", "layers.", "mlp", ".experts", "shared_experts", "_proj", "model.", "1", ".", ""]
GLOBS = st.lists(st.sampled_from([*PIECES, "*", "*", "?", "[1-3]"]), max_size=6).map("".join)
REGULAR = st.lists(
    st.sampled_from([*(re.escape(piece) for piece in PIECES), ".*", ".", r"\d", "(0|1)", "$", "^"]), max_size=5
).map("".join)


@given(GLOBS, NAMES)
def test_a_glob_matches_as_fnmatch_does(pattern: str, name: str) -> None:
    assert glob(pattern).match(name) == fnmatch.fnmatchcase(name, pattern)


@given(REGULAR, NAMES)
def test_a_regular_expression_matches_as_re_does(pattern: str, name: str) -> None:
    assert regular(pattern).match(name) == (re.match(pattern, name) is not None)


@given(st.lists(GLOBS, max_size=8), NAMES)
def test_the_index_loses_no_match_and_keeps_the_order(patterns: list[str], name: str) -> None:
    index = LayerIndex((glob(pattern).fixed, pattern) for pattern in patterns)
    hits = [pattern for pattern in index.for_name(name) if glob(pattern).match(name)]
    assert hits == [pattern for pattern in patterns if fnmatch.fnmatchcase(name, pattern)]


@given(st.lists(st.one_of(GLOBS, NAMES, REGULAR.map("re:{}".format)), max_size=8), NAMES)
def test_a_list_matches_as_its_entries_do(entries: list[str], name: str) -> None:
    def hit(entry: str) -> bool:
        return re.match(entry[3:], name) is not None if entry.startswith("re:") else entry == name

    assert NameList(entries).matches(name) == any(map(hit, entries))
    assert NameList(entries).part_of(name) == any(entry in name and entry != name for entry in entries)
    assert NameList(entries).within_an_entry(name) == any(name in entry for entry in entries)
