"""A line of a log without what stands around its words: colours, a container's prefix, the process, level and place."""

import json
import re
from dataclasses import dataclass

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PROCESS = re.compile(r"\((?P<name>[A-Za-z]\w*)(?P<more> [A-Z]+\d+)?(?: rank=(?P<rank>\d+))? pid=(?P<pid>\d+)[^)]*\) ?")
_LEVEL = re.compile(r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \[[^\]]*\] ?")
_REPEATED = re.compile(r" ?\[repeated (?P<times>\d{1,6})x across cluster\].*$")


@dataclass(frozen=True, kw_only=True)
class Line:
    """`process` as the release names it, "" where it does not; `times`, how many equal lines this one stands for."""

    text: str
    process: str = ""
    level: str = ""
    times: int = 1
    at: int = 0


def parsed(data: bytes, at: int = 0) -> Line:
    """The line; whatever it is, it is one."""
    text = _ANSI.sub("", data.decode("utf-8", "replace")).rstrip("\r\n")
    text = _message_of_json(text)
    process, times = "", 1
    match = _PROCESS.search(text)
    if match is not None:
        process, text = _name(match), text[match.end() :]
    repeated = _REPEATED.search(text)
    if repeated is not None:
        times, text = int(repeated["times"]), text[: repeated.start()]
    level = _LEVEL.search(text)
    if level is None:
        return Line(text=text, process=process, times=times, at=at)
    return Line(text=text[level.end() :], process=process, level=level["level"], times=times, at=at)


def _name(match: re.Match[str]) -> str:
    """One name a process: where the release's does not tell the ranks apart, the process id does."""
    if match["rank"] is not None:
        return f"{match['name']}{match['rank']}"
    name = match["name"] + (match["more"] or "").replace(" ", "_")
    alike = name.startswith("Ray") or name == "Worker"
    return f"{name}_{match['pid']}" if alike else name


def _message_of_json(text: str) -> str:
    """The message of a log that is written as JSON, a line an object."""
    if not text.startswith("{"):
        return text
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return text
    message = whole.get("message") if isinstance(whole, dict) else None
    if not isinstance(message, str):
        return text
    name, level = whole.get("processName"), whole.get("levelname", "")
    prefix = f"({name} pid={whole.get('process', 0)}) " if isinstance(name, str) and name.isidentifier() else ""
    return f"{prefix}{level} 00-00 00:00:00 [] {message}" if level else f"{prefix}{message}"
