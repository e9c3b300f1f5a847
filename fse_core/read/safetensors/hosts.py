"""Where a redirect may lead, and who gets the token."""

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

OWN: Final = frozenset({"huggingface.co", "hf.co"})
"""The Hub's own domains. Its large files are on hosts below these (cdn-lfs.huggingface.co, cas-bridge.xethub.hf.co)."""
_NAME: Final = re.compile(r"[a-z0-9.-]+")


def may_follow(url: str, endpoint: str) -> bool:
    """Whether a redirect to `url` is followed: to the endpoint's host or the Hub's own ones, and over https.

    Where the endpoint itself is reached over plain http, as a Hub on this machine is, so is its host.
    """
    try:
        target, own = urlsplit(url), urlsplit(endpoint)
        origin(url)  # a port that is none
    except ValueError:
        return False
    if target.username is not None or target.password is not None or not target.hostname:
        return False
    if target.hostname == own.hostname:
        return target.scheme in ("https", own.scheme)
    return target.scheme == "https" and _of_hub(target)


def _of_hub(target: SplitResult) -> bool:
    host = target.hostname or ""
    return _NAME.fullmatch(host) is not None and any(f".{host}".endswith(f".{domain}") for domain in OWN)


def gets_token(url: str, endpoint: str) -> bool:
    """Only the endpoint itself does: no other host, port or scheme."""
    return origin(url) == origin(endpoint)


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port. ValueError where the port is none."""
    parts = urlsplit(url)
    default = {"https": 443, "http": 80}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or default
