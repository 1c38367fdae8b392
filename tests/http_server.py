"""An HTTP server in a thread that serves files well or badly, for tests of downloads."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Resource:
    """What the server has at a path, and how it misbehaves."""

    content: bytes
    ranges: bool = True  # whether it answers requests for a part
    status: int = 200
    redirect: str | None = None  # where it sends the client
    # after how many bytes it drops each of the next connections
    cuts: list[int] = field(default_factory=list)
    stalls: list[int] = field(default_factory=list)  # after how many bytes it waits for `go_on`
    shift: int = 0  # parts start this much later than they were asked to
    length: bool = True  # whether it announces the length
    headers: dict[str, str] = field(default_factory=dict)  # further headers of answers


class Server:
    """A running server. `requests` has the path and the headers of each request."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.resources: dict[str, Resource] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.arrived, self.go_on = threading.Event(), threading.Event()

    def headers(self, name: str) -> list[str | None]:
        """The values of a header in all requests."""
        return [headers.get(name) for _, headers in self.requests]


@contextmanager
def http_server() -> Iterator[Server]:
    """Run a server on this machine while the block runs."""

    class FileHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with suppress(ConnectionError):
                _answer(self, server)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), FileHandler) as listener:
        server = Server(f"http://127.0.0.1:{listener.server_address[1]}")
        thread = threading.Thread(
            target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        thread.start()
        try:
            yield server
        finally:
            server.go_on.set()
            listener.shutdown()
            thread.join()


def _answer(handler: BaseHTTPRequestHandler, server: Server) -> None:
    server.requests.append((handler.path, dict(handler.headers)))
    resource = server.resources.get(handler.path)
    if resource is None or resource.status >= 400:
        handler.send_error(404 if resource is None else resource.status)
        return
    if resource.redirect:
        handler.send_response(302)
        handler.send_header("Location", resource.redirect)
        handler.end_headers()
        return
    body, start = resource.content, 0
    byte_range = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
    if byte_range and resource.ranges:
        start = int(byte_range[1]) + resource.shift
        if start >= len(body):
            handler.send_error(416)
            return
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
    else:
        handler.send_response(resource.status)
    for name, value in resource.headers.items():
        handler.send_header(name, value)
    if resource.length:
        handler.send_header("Content-Length", str(len(body) - start))
    handler.end_headers()
    body = body[start:]
    if resource.cuts:
        handler.wfile.write(body[: resource.cuts.pop(0)])
        return
    if resource.stalls:
        n_before = resource.stalls.pop(0)
        handler.wfile.write(body[:n_before])
        handler.wfile.flush()
        server.arrived.set()
        server.go_on.wait(60)
        body = body[n_before:]
    handler.wfile.write(body)
