"""What the environment configures, each variable named FSE_ and the field's name in capitals."""

from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Times are seconds, sizes bytes.

    host, port, workers: where the service listens, and with how many processes.
    store: `sqlite:///PATH`, or `redis://HOST:PORT/DB` for several replicas (Valkey speaks the same).
    store_most: how large the SQLite file may grow before the oldest entries go.
    examples: the folder of shipped models.
    branch_seconds: how long a branch's commit is taken as known; negative_seconds: how long a refusal by the Hub is.
    hub_seconds: how long one answer may wait for the Hub; hub_most: how many fetches may run at once.
    check_seconds: how long one check may take.
    inline_most: how many configs that callers send may be checked at once, each in a process of its own; inline_each:
        how many checks one client may have running or waiting there.
    sweep_most: the same for questions about many releases, a matrix or a diff.
    headers_most: how many checkpoints' headers may be read at once, each in a process of its own; headers_each: how
        many readings one client may have running or waiting; headers_seconds: how long one may take; headers_bytes:
        how much one client may have read from the Hub in an hour, 0 for no limit.
    rate: requests that one client may make a minute, 0 for no limit; trust_forwarded: the client is the last address
        of X-Forwarded-For, as a proxy in front sets it.
    batch_most: how many models one batch may name. body_most: how large a request's body may be; body_seconds: how
        long it may take to arrive.
    memory_most: how much of the latest answers is kept in memory.
    drain_seconds: how long the service goes on after it was told to stop, so that a proxy notices (/readyz says no);
        stop_seconds: how long requests may then take to end.
    public_url: how the service is reached from outside, for links in badges.
    """

    model_config = SettingsConfigDict(env_prefix="FSE_", frozen=True, extra="ignore")

    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    store: str = "sqlite:///fse.sqlite3"
    store_most: int = 2 * 1024**3
    examples: Path = Path("examples")
    branch_seconds: float = 60.0
    negative_seconds: float = 30.0
    hub_seconds: float = 20.0
    hub_most: int = 16
    check_seconds: float = 10.0
    inline_most: int = 2
    inline_each: int = 4
    sweep_most: int = 2
    headers_most: int = 2
    headers_each: int = 8
    headers_seconds: float = 120.0
    headers_bytes: int = 1024**3
    rate: int = 600
    trust_forwarded: bool = False
    batch_most: int = 200
    body_most: int = 9 * 1024 * 1024
    body_seconds: float = 15.0
    memory_most: int = 64 * 1024 * 1024
    drain_seconds: float = 0.0
    stop_seconds: float = 20.0
    public_url: str = ""
    log_level: str = "info"
