"""A model's config files from the Hugging Face Hub, through its own client. No repository's code is ever run.

The client decides on the endpoint (HF_ENDPOINT), the token (HF_TOKEN or its login), the cache (HF_HOME, HF_HUB_CACHE)
and offline mode (HF_HUB_OFFLINE). What is added here: one commit for all files, a size limit, a total deadline, and
one FetchError for each way to fail.
"""

import os
import re
import time
from dataclasses import dataclass
from typing import Any, Final

from fse_core.errors import FetchError, InputError
from fse_core.read.deadline import GRACE, within
from fse_core.read.document import MAX_BYTES
from fse_core.read.hub_errors import Asked, Token, told
from fse_core.read.model import CONFIG_FILE, HF_QUANT_FILE
from fse_core.report import Source

COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_NOT_A_REVISION: Final = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|//|^[/-]|/$|^$")
CLIENT: Final = "vllm-fse"
"""How requests name this program."""

PATIENCE: Final = 10.0
"""Seconds that one step of a connection may take."""


@dataclass(frozen=True, kw_only=True)
class HubFiles:
    """The files of one commit. `hf_quant_config` is None where the repository has none."""

    source: Source
    config: bytes
    hf_quant_config: bytes | None


def fetch(hub_id: str, *, token: Token = None, deadline: float = 30.0) -> HubFiles:
    """The config files of `org/name` or `org/name@revision`, all of the one commit that the revision stands for now.

    Offline, or where the Hub cannot be reached, that is the commit that the cache knows for the revision. Offline, a
    hf_quant_config.json that is not in the cache counts as missing, as it does for vLLM.
    """
    asked = asking(*_split(hub_id), token)
    until = time.monotonic() + deadline + GRACE
    return within(deadline, lambda: _files(asked, _commit(asked), until), what=hub_id)


def asking(name: str, revision: str, token: Token) -> Asked:
    """What is asked, once it is known to be something that can be asked."""
    _checked_revision(name, revision)
    _require_client(name)
    from huggingface_hub import constants
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise InputError(name, f"neither a file or folder here nor a Hub id. {error}") from None
    return Asked(repo=name, revision=revision, endpoint=constants.ENDPOINT, token=_usable(token))


def _split(hub_id: str) -> tuple[str, str]:
    name, at, revision = hub_id.partition("@")
    return name, _checked_revision(hub_id, revision) if at else "main"


def _checked_revision(hub_id: str, revision: str) -> str:
    if _NOT_A_REVISION.search(revision):
        raise InputError(hub_id, "expected a branch, a tag or a commit after the @")
    return revision


def _require_client(hub_id: str) -> None:
    try:
        import huggingface_hub  # noqa: F401
    except ImportError:
        raise InputError(
            hub_id, "no such file or folder, and reading from the Hub needs an extra: pip install 'vllm-fse[hub]'"
        ) from None
    except ValueError as error:
        raise InputError(hub_id, f"the Hub's client cannot be set up from its variables (HF_...): {error}") from None


def _usable(token: Token) -> Token:
    """A token that can stand in a header. The client would quote another one in its error."""
    if token is None or token is False:
        return token
    token = token.strip()
    if not re.fullmatch(r"[!-~]+", token):
        raise InputError("token", "expected one word of printable ASCII characters")
    return token


def source_at(asked: Asked, commit: str) -> Source:
    """Where the files of that commit come from."""
    return Source(kind="hub", id=asked.repo, revision=asked.revision, commit=commit)


def no_config(asked: Asked, commit: str) -> FetchError:
    """The commit has no file that could be read."""
    return FetchError(
        "missing_file",
        f"{asked.repo} has no {CONFIG_FILE} at commit {commit[:12]}; only the transformers format is read",
    )


def _files(asked: Asked, commit: str, until: float) -> HubFiles:
    config = _file(asked, commit, CONFIG_FILE, until)
    if config is None:
        raise no_config(asked, commit)
    return HubFiles(
        source=source_at(asked, commit),
        config=config,
        hf_quant_config=_file(asked, commit, HF_QUANT_FILE, until),
    )


def _commit(asked: Asked) -> str:
    """The commit that the revision stands for: by the Hub, or by the cache where the Hub cannot be reached."""
    from huggingface_hub import HfApi

    class Api(HfApi):
        def model_info(self, *args: Any, **options: Any) -> Any:
            return super().model_info(*args, **{**options, "timeout": PATIENCE})

    with told(asked, "repo"):
        api = Api(token=asked.token, library_name=CLIENT)
        commit: str = api.resolve_revision(asked.repo, revision=asked.revision).resolved
    if not COMMIT.fullmatch(commit):
        raise asked.broken("named no commit for the revision")
    return commit


def _file(asked: Asked, commit: str, name: str, until: float) -> bytes | None:
    from huggingface_hub import is_offline_mode, try_to_load_from_cache
    from huggingface_hub.errors import EntryNotFoundError

    # A path, None for what is not known, or the client's mark for what is known to be missing.
    path: Any = try_to_load_from_cache(asked.repo, name, revision=commit)
    if path is None and is_offline_mode():
        if name == CONFIG_FILE:
            raise asked.not_cached(name)
        return None
    try:
        if path is None:
            path = _download(asked, commit, name, until)
    except EntryNotFoundError:
        return None
    if not isinstance(path, str):
        return None
    if os.path.getsize(path) > MAX_BYTES:
        raise asked.too_large(name)
    with open(path, "rb") as file:
        return file.read(MAX_BYTES + 1)


def _download(asked: Asked, commit: str, name: str, until: float) -> str:
    """Into the client's cache, once the size is known to be in bounds; the size told is not trusted, either."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    with told(asked, "file"):
        url = hf_hub_url(asked.repo, name, revision=commit)
        found = get_hf_file_metadata(url, token=asked.token, timeout=PATIENCE, library_name=CLIENT)
    if found.commit_hash != commit:
        raise asked.broken(f"gave {name} of another commit than the one asked for")
    if found.size is not None and found.size > MAX_BYTES:
        raise asked.too_large(name)
    with told(asked, "file"):
        path: str = hf_hub_download(
            asked.repo,
            name,
            revision=commit,
            token=asked.token,
            tqdm_class=_meter(asked, name, until),
            library_name=CLIENT,
        )
    return path


def _meter(asked: Asked, name: str, until: float) -> Any:
    """A progress bar that shows nothing and stops a download that grows too large or takes too long."""
    from huggingface_hub.utils import tqdm  # type: ignore[attr-defined]

    class Meter(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})  # type: ignore[no-untyped-call]
            self.received = 0

        def update(self, n: float | None = 1) -> None:
            self.received += int(n or 0)
            if self.received > MAX_BYTES:
                raise asked.too_large(name)
            if time.monotonic() > until:
                raise asked.broken("was too slow")

    return Meter
