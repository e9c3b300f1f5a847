"""What no reader asks of the server yet: ranges, and the switch that ignores them."""

import http.client
from urllib.parse import urlsplit

import pytest

from tests.hub_server.server import HubServer

DATA = bytes(range(100))


def get(server: HubServer, asked: str | None) -> tuple[int, str | None, bytes]:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=5)
    connection.request("GET", "/org/name/resolve/main/x.bin", headers={"Range": asked} if asked else {})
    reply = connection.getresponse()
    told = reply.status, reply.getheader("Content-Range"), reply.read()
    connection.close()
    return told


@pytest.mark.parametrize(
    ("asked", "status", "told", "body"),
    [
        (None, 200, None, DATA),
        ("bytes=0-7", 206, "bytes 0-7/100", DATA[:8]),
        ("bytes=90-", 206, "bytes 90-99/100", DATA[90:]),
        ("bytes=-5", 206, "bytes 95-99/100", DATA[-5:]),
        ("bytes=95-200", 206, "bytes 95-99/100", DATA[95:]),
        ("bytes=100-", 416, "bytes */100", b""),
        ("lines=1-2", 200, None, DATA),
    ],
)
def test_ranges(asked: str | None, status: int, told: str | None, body: bytes) -> None:
    with HubServer() as server:
        server.add("org/name", {"x.bin": DATA})
        assert get(server, asked) == (status, told, body)
        server.ranges = False
        assert get(server, asked) == (200, None, DATA)
        assert server.requests[0].headers.get("range") == asked
