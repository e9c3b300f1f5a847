"""What can go wrong, told apart. Only the command line and the service turn these into exit codes and problems."""

from typing import Literal

FetchKind = Literal[
    "gated",
    "bad_token",
    "missing_repo",
    "missing_revision",
    "missing_file",
    "rate_limited",
    "unreachable",
    "offline",
    "too_large",
    "broken",
]


class FseError(Exception):
    """Base of every error that this project raises on purpose."""


class InputError(FseError):
    """An input that was read and is not what it must be.

    `path` says where: a file, an option, or a place in a JSON document such as
    `quantization_config.weight_block_size[1]`.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message


class FetchError(FseError):
    """An input that could not be had. `kind` tells why; the message says what to do."""

    def __init__(self, kind: FetchKind, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after


class Undecided(FseError):
    """A question that cannot be answered from what is known: never answered by a guess."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class OutOfTime(Undecided):
    """A question that was given up because it takes too long: asked again, it may be answered."""


class ReleaseRaises(Exception):
    """What the vLLM release itself would raise here: an answer, not a fault of ours.

    `type` is the Python exception's class name, `message` its text word for word.
    """

    def __init__(self, type: str, message: str = "") -> None:
        super().__init__(f"{type}: {message}")
        self.type = type
        self.message = message
