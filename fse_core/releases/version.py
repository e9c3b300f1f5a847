"""vLLM's version strings: `0.33.0`, `v0.33.0`, `0.19.1+rocm721`, `0.34.0rc1`, `0.33.1.dev12+gabc`."""

import re
from dataclasses import dataclass

from fse_core.errors import InputError

_VERSION = re.compile(
    r"v?(?P<numbers>\d{1,5}\.\d{1,5}(\.\d{1,5})?)(?P<pre>(a|b|rc)\d{1,5})?(\.post\d{1,5})?(?P<dev>\.dev\d{1,9})?"
    r"(\+[\w.]{1,100})?",
    re.ASCII,
)


@dataclass(frozen=True, kw_only=True)
class Version:
    """`name` is the release that the string names or leads to; `unreleased` ones come before it."""

    name: str
    numbers: tuple[int, ...]
    unreleased: bool


def parsed(text: str) -> Version:
    """The version that `text` states. InputError where it states none."""
    match = _VERSION.fullmatch(text)
    if match is None:
        raise InputError("--vllm", f"expected latest or a version such as 0.33.0, got {text!r}")
    numbers = tuple(int(number) for number in match["numbers"].split("."))
    numbers += (0,) * (3 - len(numbers))
    unreleased = match["pre"] is not None or match["dev"] is not None
    return Version(name=".".join(map(str, numbers)), numbers=numbers, unreleased=unreleased)
