"""What the README and the docs say of the command line is what it does."""

import re
import shlex
from pathlib import Path

import pytest

from fse_core.cli import main
from fse_core.output import names

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
SHOWN = re.findall(r"\$ \.venv/bin/fse ((?:check|matrix|diff) examples/.*)\n((?:(?!```).*\n)+)```", README)
COMMANDS = (
    "check",
    "matrix",
    "diff",
    "releases",
    "fix",
    "rules",
    "explain",
    "completion",
    "convert",
    "verify",
    "doctor",
    "ask",
)


def test_the_readme_shows_some() -> None:
    assert len(SHOWN) >= 2


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_the_readme_shows_real_output(
    command: str, output: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)) == (1 if output.splitlines()[-1].startswith("worse") else 0)
    assert capsys.readouterr().out == output


def options(command: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    return set(re.findall(r"--[a-z][a-z0-9-]+", capsys.readouterr().out)) - {"--help"}


def test_every_option_is_documented_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    page = "".join((ROOT / "docs" / name).read_text("utf-8") for name in ("command-line.md", "convert.md"))
    documented = set(re.findall(r"--[a-z][a-z0-9-]+", page)) - {"--version"}
    assert documented == set().union(*(options(command, capsys) for command in COMMANDS))
    assert all(f"`--format {name}`" in page for name in {*names(), *names("matrix")})
    assert names("matrix") == names("diff") == names("releases")


def test_every_command_is_documented(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert tuple(sorted(COMMANDS)) == tuple(re.findall(r"^    ([a-z]+)(?: |$)", capsys.readouterr().out, re.MULTILINE))
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    assert set(re.findall(r"^fse ([a-z]+) ", page, re.MULTILINE)) == set(COMMANDS)


def test_every_schema_is_documented() -> None:
    pages = "".join(page.read_text("utf-8") for page in ROOT.glob("docs/*.md"))
    for schema in (ROOT / "fse_core" / "schema").glob("*-1.schema.json"):
        assert f"`fse.{schema.name.removesuffix('-1.schema.json')}/1`" in pages


def test_every_link_between_the_pages_leads_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_make_target_is_explained() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[0].split())
    assert set(re.findall(r"^([a-z]+):.* ## .+$", makefile, re.MULTILINE)) == targets
    for target in re.findall(r"`make ([a-z]+)`", README):
        assert target in targets
