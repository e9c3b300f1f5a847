"""A server that speaks the Hugging Face Hub's API on this machine, for tests that drive the real client."""

from tests.hub_server.server import HubServer
from tests.hub_server.state import Fault, Repo, Request

__all__ = ["Fault", "HubServer", "Repo", "Request"]
