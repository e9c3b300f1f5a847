"""The store that a setting names."""

from pathlib import Path

from service.settings import Settings
from service.store.base import Store
from service.store.sqlite import SqliteStore

_SQLITE = "sqlite:///"
_REDIS = ("redis://", "rediss://", "unix://")


def open_store(settings: Settings) -> Store:
    """Nothing is asked until the store is first used."""
    if settings.store.startswith(_SQLITE):
        return SqliteStore(Path(settings.store.removeprefix(_SQLITE)), settings.store_most)
    if settings.store.startswith(_REDIS):
        from service.store.redis import RedisStore  # an extra, which the default store does not need

        return RedisStore(settings.store)
    raise ValueError("FSE_STORE: expected sqlite:///PATH or redis://HOST:PORT/DB")
