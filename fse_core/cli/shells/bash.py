"""`bash`: a function for `complete`."""

from collections.abc import Iterator, Sequence

from fse_core.cli.shells import Words

_HEAD = """\
# bash completion for fse: source it, or save it where bash-completion looks for it.
_fse() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= word
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in"""
_TAIL = """\
    esac
}
complete -o default -F _fse fse
"""


def script(commands: Sequence[Words]) -> str:
    """The whole of it."""
    return "\n".join((_HEAD, *_lines(commands), _TAIL))


def _lines(commands: Sequence[Words]) -> Iterator[str]:
    yield f"            {'|'.join(one.name for one in commands)}) command=$word; break ;;"
    yield "        esac"
    yield "    done"
    yield "    COMPREPLY=()"
    yield '    case "$command $prev" in'
    for one in commands:
        for option in one.options:
            if option.takes:
                names = "|".join(f'"{one.name} {name}"' for name in option.names)
                yield f"        {names}) {_reply(option.words)}return ;;"
    yield "    esac"
    yield '    case "$command $cur" in'
    yield f'        " "*) {_reply([*(one.name for one in commands), "--help", "--version"])};;'
    for one in commands:
        options = [name for option in one.options for name in option.names]
        yield f'        "{one.name} -"*) {_reply(options)};;'
        if one.words:
            yield f'        "{one.name} "*) {_reply(one.words)};;'


def _reply(words: Sequence[str]) -> str:
    """Files are what bash falls back to where there is no reply."""
    return f'COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$cur")); ' if words else ""
