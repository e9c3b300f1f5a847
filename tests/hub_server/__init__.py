"""A server that speaks the Hugging Face Hub's API on this machine, for tests that drive the real client."""

from tests.hub_server.server import HubServer
from tests.hub_server.state import Fault, Hollow, Repo, Request

__all__ = ["Fault", "Hollow", "HubServer", "Repo", "Request"]
