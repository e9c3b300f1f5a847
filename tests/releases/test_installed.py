"""An installation is recognised by the text of its functions, and its code is never run."""

import json
from pathlib import Path

import pytest

from fse_core.errors import InputError
from fse_core.output import Style, find, names
from fse_core.releases.installed import Installed, identify
from tests.output.schemas import validator
from tests.releases.packages import GATE, package, release

VALIDATOR = validator("installed")
OTHER = GATE.replace("return name", "return name.lower()")


def test_identical_whatever_it_calls_itself(tmp_path: Path) -> None:
    root = package(tmp_path, version="0.99.0")
    found = identify(str(root), [release("0.1.0", root)])
    assert (found.kind, found.releases, found.version) == ("identical", ("0.1.0",), "0.99.0")
    assert (found.compared, found.differing) == (2, ())


def test_releases_that_do_not_differ_are_named_together(tmp_path: Path) -> None:
    root, other = package(tmp_path / "a"), package(tmp_path / "b", OTHER)
    known = [release("0.1.0", root), release("0.1.1", root), release("0.2.0", other)]
    assert identify(str(root), known).releases == ("0.1.0", "0.1.1")


def test_the_release_that_tells_more_functions_wins(tmp_path: Path) -> None:
    text = f"{GATE}\n\ndef later():\n    return 1\n"
    root = package(tmp_path, text)
    known = [release("0.1.0", root), release("0.2.0", root, "layers/gate.py:later")]
    assert identify(str(root), known).releases == ("0.2.0",)
    assert identify(str(package(tmp_path / "b")), known).releases == ("0.1.0",)


def test_indentation_counts_not_and_comments_do(tmp_path: Path) -> None:
    known = [release("0.1.0", package(tmp_path / "a"))]
    blank = package(tmp_path / "b", GATE.replace("# asks\n", "# asks\n\n"))
    commented = package(tmp_path / "c", GATE.replace("# asks", "# asks twice"))
    assert identify(str(blank), known).kind == "identical"
    assert identify(str(commented), known).kind == "closest"


def test_what_differs_is_named(tmp_path: Path) -> None:
    known = [release("0.1.0", package(tmp_path / "a"))]
    found = identify(str(package(tmp_path / "b", OTHER)), known)
    assert (found.kind, found.releases, found.differing) == ("closest", ("0.1.0",), ("layers/gate.py:Loader.load",))
    assert found.absent == frozenset()
    without = package(tmp_path / "c", GATE.partition("class")[0])
    assert identify(str(without), known).absent == {"layers/gate.py:Loader.load"}


def test_of_equally_close_ones_it_is_the_newest(tmp_path: Path) -> None:
    known = [release(f"0.{number}.0", package(tmp_path / str(number), f"{GATE}# {number}\n")) for number in (1, 2)]
    other = GATE.replace("# asks", "# another")
    differing = [release("0.1.0", package(tmp_path / "x", GATE.replace("# asks", "# x"))),
                 release("0.2.0", package(tmp_path / "y", GATE.replace("# asks", "# y")))]  # fmt: skip
    assert identify(str(package(tmp_path / "z", other)), differing).releases == ("0.2.0",)
    assert identify(str(package(tmp_path / "w")), known).kind == "identical"


def test_nothing_alike_is_unknown(tmp_path: Path) -> None:
    known = [release("0.1.0", package(tmp_path / "a"))]
    for number, text in enumerate(("", "def gate():\n    pass\n", "def (:\n", "\0")):
        found = identify(str(package(tmp_path / str(number), text)), known)
        assert (found.kind, found.releases) == ("unknown", ())


def test_the_folder_around_the_package_will_do(tmp_path: Path) -> None:
    root = package(tmp_path)
    assert identify(str(tmp_path), [release("0.1.0", root)]).folder == str(root)


@pytest.mark.parametrize("version", ["0.33.1.dev12+gabc", "0.19.1+rocm721", "0.34.0rc1"])
def test_the_version_that_it_states(tmp_path: Path, version: str) -> None:
    root = package(tmp_path, version=version)
    assert identify(str(root), [release("0.1.0", root)]).version == version


def test_no_version_is_no_error(tmp_path: Path) -> None:
    root = package(tmp_path, version=None)
    assert identify(str(root), [release("0.1.0", root)]).version is None
    (root / "_version.py").write_bytes(b"\xff version = 3")
    assert identify(str(root), [release("0.1.0", root)]).version is None


def test_what_is_no_package_is_refused(tmp_path: Path) -> None:
    known = [release("0.1.0", package(tmp_path / "a"))]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="is no vLLM package"):
        identify(str(tmp_path / "empty"), known)
    with pytest.raises(InputError, match="no such folder"):
        identify(str(tmp_path / "nowhere"), known)


def test_code_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    root = package(tmp_path / "a")
    deep = package(tmp_path / "b", f"x = {'-' * 200_000}1\n")
    with pytest.raises(InputError, match="nested too deeply"):
        identify(str(deep), [release("0.1.0", root)])


def found(kind: str) -> Installed:
    names = ("layers/gate.py:gate", "layers/gate.py:Loader.load")
    if kind == "identical":
        return Installed(folder="vllm", version="0.2.0", kind="identical", releases=("0.1.0", "0.1.1"), compared=2)
    if kind == "unknown":
        return Installed(folder="vllm", version=None, kind="unknown")
    return Installed(
        folder="vllm", version="0.2.0", kind="closest", releases=("0.1.0",), compared=3, differing=names,
        absent=frozenset(names[:1]),
    )  # fmt: skip


def written(kind: str, format: str) -> str:
    return find(format, "installed").render([found(kind)], Style())


def test_the_formats() -> None:
    assert names("installed") == names("releases")
    assert all(find(name, "installed").summary for name in names("installed"))


def test_tables() -> None:
    assert written("identical", "table") == (
        "vllm\n  calls itself 0.2.0\n  identical to 0.1.0 and 0.1.1 in all 2 functions on which answers rest\n"
    )
    assert written("closest", "table") == (
        "vllm\n  calls itself 0.2.0\n  closest to 0.1.0, but 2 of 3 functions on which answers rest differ\n"
        "      layers/gate.py:gate is not there\n      layers/gate.py:Loader.load reads otherwise\n"
    )
    assert written("unknown", "table") == (
        "vllm\n  does not say which version it is\n"
        "  unknown: none of the functions on which answers rest is as any known release has it\n"
    )


def test_markdown() -> None:
    assert written("closest", "markdown") == (
        "`vllm` calls itself 0.2.0: **closest to 0.1.0, but 2 of 3 functions on which answers rest differ**\n\n"
        "- `layers/gate.py:gate` is not there\n- `layers/gate.py:Loader.load` reads otherwise\n"
    )


@pytest.mark.parametrize("kind", ["identical", "closest", "unknown"])
def test_json(kind: str) -> None:
    whole = json.loads(written(kind, "json"))
    VALIDATOR.validate(whole)
    assert whole["kind"] == kind
    assert not VALIDATOR.is_valid(whole | {"kind": "perhaps"})
    assert [one["absent"] for one in whole["differing"]] == ([True, False] if kind == "closest" else [])
