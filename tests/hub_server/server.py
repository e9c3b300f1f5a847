"""A Hub on this machine: two HTTP servers (the Hub and the second host that its redirects lead to) over one state."""

import contextlib
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.hub_server.answers import Answer, answer
from tests.hub_server.state import Data, Fault, Repo, Request

_PIECE = 256 * 1024


class HubServer:
    """Used as a context manager. Everything may be changed while it runs.

    `tokens` maps a token to the private and gated repositories that it opens; `renamed` an id to the one that it
    redirects to. With `ranges` off, Range headers are ignored. `requests` is the log, `sent` the bytes of all bodies.
    """

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.tokens: dict[str, set[str]] = {}
        self.renamed: dict[str, str] = {}
        self.faults: list[Fault] = []
        self.ranges = True
        self.requests: list[Request] = []
        self.sent = 0
        self.counting = threading.Lock()
        self.stopped = threading.Event()
        self._servers = {host: _Server(self, host) for host in ("hub", "cdn")}

    @property
    def url(self) -> str:
        return self._servers["hub"].url

    @property
    def cdn_url(self) -> str:
        return self._servers["cdn"].url

    def __enter__(self) -> Self:
        for server in self._servers.values():
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopped.set()
        for server in self._servers.values():
            server.shutdown()
            server.server_close()

    def add(self, id: str, files: Mapping[str, Data], **options: Any) -> Repo:
        """A repository with one commit on main."""
        repo = Repo(id=id, **options)
        repo.push(files)
        self.repos[id] = repo
        return repo

    def fail(self, pattern: str, **how: Any) -> Fault:
        """From now on, a fault for the requests whose `METHOD path` the pattern is found in."""
        fault = Fault(pattern=pattern, **how)
        self.faults.append(fault)
        return fault

    def asked(self, host: str | None = None) -> list[str]:
        """The log as `METHOD path`, oldest first."""
        return [f"{request.method} {request.path}" for request in self.requests if host in (None, request.host)]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, hub: HubServer, host: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hub = hub
        self.host = host
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away in the middle is none of the server's trouble."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body go out apart: the body would wait for the head to be acknowledged
    server: _Server

    def do_GET(self) -> None:
        hub = self.server.hub
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(host=self.server.host, method=self.command, path=self.path, headers=headers)
        hub.requests.append(request)
        fault = next((fault for fault in hub.faults if fault.take(f"{self.command} {self.path}")), None)
        if fault is None:
            self._send(answer(hub, request), Fault(pattern=""))
            return
        hub.stopped.wait(fault.delay)
        if fault.hang_up:
            self.close_connection = True
            return
        right = Answer(status=fault.status) if fault.status is not None else answer(hub, request)
        body = right.body if fault.body is None else fault.body
        kept = {name: value for name, value in right.headers.items() if fault.headers.get(name) != ""}
        told = {name: value for name, value in fault.headers.items() if value}
        if fault.after is not None:
            fault.after()
        self._send(Answer(status=right.status, headers={**kept, **told}, body=body), fault)

    do_HEAD = do_GET  # noqa: N815

    def _send(self, reply: Answer, fault: Fault) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body) if fault.length is None else fault.length))
        self.end_headers()
        if self.command == "HEAD":
            return
        body = reply.body if fault.cut is None else reply.body[: fault.cut]
        with contextlib.suppress(ConnectionError):
            self._write(body, fault.drip)
        if fault.cut is not None:
            self.close_connection = True

    def _write(self, body: Data, drip: float) -> None:
        step = 1 if drip else _PIECE
        for first in range(0, len(body), step):
            if drip and self.server.hub.stopped.wait(drip):
                return
            piece = body[first : first + step]
            self.wfile.write(piece)
            with self.server.hub.counting:
                self.server.hub.sent += len(piece)

    def log_message(self, format: str, *args: Any) -> None:
        """The log is `HubServer.requests`."""
