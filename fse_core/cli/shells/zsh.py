"""`zsh`: a function for compinit."""

from collections.abc import Iterator, Sequence

from fse_core.cli.shells import Option, Words


def script(commands: Sequence[Words]) -> str:
    """The whole of it."""
    return "\n".join(_lines(commands))


def _lines(commands: Sequence[Words]) -> Iterator[str]:
    yield "#compdef fse"
    yield "# zsh completion for fse: save it as _fse in a folder of $fpath, or source it after compinit."
    yield "_fse() {"
    yield "    local context state state_descr line"
    yield "    typeset -A opt_args"
    yield "    _arguments -C '--help[help]' '--version[the version]' '1: :->command' '*:: :->rest'"
    yield "    case $state in"
    yield "        command)"
    yield "            local -a commands=("
    yield from (f"                {_quoted(f'{one.name}:{one.help}')}" for one in commands)
    yield "            )"
    yield "            _describe command commands ;;"
    yield "        rest)"
    yield "            case $line[1] in"
    for one in commands:
        yield f"                {one.name}) _arguments \\"
        yield from (f"                    {spec} \\" for option in one.options for spec in _specs(option))
        yield f"                    {_rest(one)} ;;"
    yield "            esac ;;"
    yield "    esac"
    yield "}"
    yield 'if [ "$funcstack[1]" = "_fse" ]; then _fse "$@"; else compdef _fse fse; fi'
    yield ""


def _specs(option: Option) -> Iterator[str]:
    told = option.help.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    for name in option.names:
        words = f"({' '.join(option.words)})" if option.words else "_files"
        value = f":value:{words}" if option.takes else ""
        yield _quoted(f"*{name}[{told}]{value}")


def _rest(one: Words) -> str:
    return _quoted(f"*:word:({' '.join(one.words)})") if one.words else _quoted("*:source:_files")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
