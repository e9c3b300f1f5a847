"""The Hub server, for every test of this folder that asks for it."""

from tests.hub_server.fixtures import hub

__all__ = ["hub"]
