"""`fish`: a list of completions."""

from collections.abc import Iterator, Sequence

from fse_core.cli.shells import Option, Words


def script(commands: Sequence[Words]) -> str:
    """The whole of it."""
    return "\n".join(_lines(commands))


def _lines(commands: Sequence[Words]) -> Iterator[str]:
    yield "# fish completion for fse: save it as fse.fish in ~/.config/fish/completions, or source it."
    names = " ".join(one.name for one in commands)
    none_yet = f"-n {_quoted(f'not __fish_seen_subcommand_from {names}')}"
    yield f"complete -c fse {none_yet} -f"
    yield f"complete -c fse {none_yet} -l help -s h -d help"
    yield f"complete -c fse {none_yet} -l version -d {_quoted('the version')}"
    yield from (f"complete -c fse {none_yet} -a {one.name} -d {_quoted(one.help)}" for one in commands)
    for one in commands:
        here = f"-n {_quoted(f'__fish_seen_subcommand_from {one.name}')}"
        if one.words:
            yield f"complete -c fse {here} -f -a {_quoted(' '.join(one.words))}"
        yield from (f"complete -c fse {here} {_option(option)}" for option in one.options)
    yield ""


def _option(option: Option) -> str:
    names = (f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    takes = ""
    if option.takes:
        takes = f" -x -a {_quoted(' '.join(option.words))}" if option.words else " -r"
    return f"{' '.join(names)}{takes} -d {_quoted(option.help)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
