"""fse.toml and [tool.fse]: found, read, and refused with the line where it says what it may not."""

import json
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import fse_core
from fse_core.errors import InputError
from fse_core.rules.texts import ids, resolve
from fse_core.settings import Settings
from fse_core.settings.find import find, read
from fse_core.settings.lines import lines
from fse_core.settings.load import settings
from fse_core.settings.targets import KEYS

SCHEMA = json.loads((Path(fse_core.__file__).parent / "schema" / "settings.schema.json").read_text("utf-8"))
WHOLE = """\
fail-on = "warning"
select = ["FSE101", "shared-width"]

[severity]
FSE114 = "info"
"known-fault" = "warning"

[targets.mi300]
tp = 8
env = {VLLM_ROCM_USE_AITER = "0"}

[targets.mi355]
vllm = "0.32.0"
gfx = "gfx950"
moe-backend = "AITER"
draft = false
quantization-config = {targets = {a = "mxfp4"}}

[[ignore]]
rule = "fse101"
reason = "served with fusion off,\\nfor now"
until = 2027-03-01

[[ignore]]
rule = "shared-width"
model = "org/*"
layers = "3-60, 62"
target = "mi300"
reason = "being exported anew"
until = "2027-04-01"
"""


def loaded(folder: Path, text: str, name: str = "fse.toml") -> Settings:
    (folder / name).write_text(text)
    found = read(str(folder / name))
    assert found is not None
    known = ids()
    return settings(found, lambda rule, where: resolve(rule, known, where))


def refused(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as raised:
        loaded(folder, text)
    return str(raised.value).partition("fse.toml")[2]


def test_all_that_a_file_may_say(tmp_path: Path) -> None:
    found = loaded(tmp_path, WHOLE)
    assert (found.fail_on, found.select) == ("warning", ("FSE101", "FSE117"))
    assert found.severity == {"FSE114": "info", "FSE150": "warning"}
    assert found.targets["mi300"] == {"tp": 8, "environment": {"VLLM_ROCM_USE_AITER": "0"}}
    assert found.targets["mi355"] == {
        "vllm": "0.32.0",
        "gfx": "gfx950",
        "moe_backend": "aiter",
        "draft": False,
        "overlay": {"targets": {"a": "mxfp4"}},
    }
    first, second = found.ignores
    assert (first.rule, first.until, first.place.line) == ("FSE101", date(2027, 3, 1), 19)
    assert first.reason == "served with fusion off, for now"
    assert (second.rule, second.model, second.layers, second.target) == ("FSE117", "org/*", "3-60, 62", "mi300")
    assert (second.number, second.until) == (2, date(2027, 4, 1))


def test_pyproject_says_the_same(tmp_path: Path) -> None:
    whole = "[project]\nname = 'x'\n[tool.fse]\n" + WHOLE.replace("[[", "[[tool.fse.").replace("\n[s", "\n[tool.fse.s")
    whole = whole.replace("\n[targets", "\n[tool.fse.targets")
    found, own = loaded(tmp_path, whole, "pyproject.toml"), loaded(tmp_path, WHOLE)
    assert (found.targets, found.severity, found.select) == (own.targets, own.severity, own.select)
    assert [ignore.place.line for ignore in found.ignores] == [22, 27]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fail_on = 'error'", ":1: fail_on: is not a setting; did you mean fail-on?"),
        ("fail-on = 'fatal'", ':1: fail-on: expected one of error, warning, info, never, got "fatal"'),
        ("\nselect = 'FSE101'", ':2: select: expected a list, got "FSE101"'),
        ("select = [1]", ":1: select: expected strings, got 1"),
        ("select = ['FSE11']", ":1: select: no rule is called 'FSE11'; did you mean FSE1"),
        ("select = ['zzz']", ":1: select: no rule is called 'zzz'"),
        ("[severity]\nFSE101 = 'bad'", ':2: severity.FSE101: expected one of error, warning, info, got "bad"'),
        ("targets = 3", ":1: targets: expected a table, got 3"),
        ("[targets]\na = 1", ":2: targets.a: expected a table, got 1"),
        ("[targets.a]\ntp = 0", ":2: targets.a.tp: expected a number of GPUs from 1 to 65536, got 0"),
        ("[targets.a]\ntp = true", ":2: targets.a.tp: expected an integer, got true"),
        ("[targets.a]\n\nep = 1", ":3: targets.a.ep: expected true or false, got 1"),
        ("[targets.a]\ngfx = 'mi300'", ":2: targets.a.gfx: expected an AMD GPU architecture"),
        ("[targets.a]\nenv = {A = 1}", ":2: targets.a.env: A: expected a string, got 1"),
        ("[targets.a]\nvllm = ' '", ":2: targets.a.vllm: expected some words"),
        ("[ignore]\nrule = 'FSE101'", ":1: ignore: expected a list"),
        ("ignore = [1]", ":1: ignore: expected tables, as [[ignore]] makes them, got 1"),
        ("[[ignore]]\nreason = 'x'", ":1: ignore[0]: needs rule, a string"),
        ("[[ignore]]\nrule = 'FSE101'\nreason = ''", ":3: ignore[0].reason: expected some words"),
        ("[[ignore]]\nrule = 'FSE101'\nreason = 'x'", ":1: ignore[0]: needs until, the day"),
        ("[[ignore]]\nrule = 'FSE101'\nreason = 'x'\nuntil = 'soon'", ":4: ignore[0].until: expected a day"),
        ("[[ignore]]\nrule='FSE101'\nreason='x'\nuntil=2027-01-01T00:00:00", ":4: ignore[0].until: expected a day"),
        ("[[ignore]]\nrule='FSE101'\nreason='x'\nuntil=2027-01-01\nlayers='all'", ":5: ignore[0].layers: expected"),
        ("[[ignore]]\nrule='FSE101'\nreason='x'\nuntil=2027-01-01\ntarget='b'", ":5: ignore[0].target: no target is"),
        ("a = [", ": is not TOML: "),
        ("a = 1\nb = ]\n", ": is not TOML: Invalid value (at line 2, column 5)"),
    ],
)
def test_what_it_may_not_say_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(tmp_path, text)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "fse.toml").write_bytes(b"a = '\xff'")
    with pytest.raises(InputError, match="is not UTF-8: byte 5 is 0xff"):
        read(str(tmp_path / "fse.toml"))


def test_the_nearest_file_upwards_counts(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.fse]\nfail-on = 'info'\n")
    found = find(str(below))
    assert found is not None
    assert Path(found.file).name == "pyproject.toml"
    (tmp_path / "fse.toml").write_text("")
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\nname = 'fse'\n")
    found = find(str(below))
    assert found is not None
    assert Path(found.file).name == "fse.toml"


def test_keys_are_found_by_their_lines() -> None:
    found = lines("a = 1 # [x]\n[t.'u v']\n\"k\" = 2\nb.c = 3\n[[l]]\nx = 1\n[[l]]\nx = 2\n")
    assert found == {"a": 1, "t.u v": 2, "t.u v.k": 3, "t.u v.b.c": 4, "l[0]": 5, "l[0].x": 6, "l[1]": 7, "l[1].x": 8}


def plain(value: Any) -> Any:
    """TOML as JSON has it."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.isoformat() if isinstance(value, date) else value


def test_the_schema_for_editors_says_the_same(tmp_path: Path) -> None:
    validator = Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)
    Draft202012Validator.check_schema(SCHEMA)
    validator.validate(plain(tomllib.loads(WHOLE)))
    assert set(SCHEMA["$defs"]["target"]["properties"]) == set(KEYS)
    for text in ("fail_on = 'error'", "[targets.a]\ntp = 0", "[[ignore]]\nrule = 'FSE101'\nreason = 'x'", "select = 1"):
        assert refused(tmp_path, text)
        assert not validator.is_valid(plain(tomllib.loads(text)))
