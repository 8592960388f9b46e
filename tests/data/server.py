"""A small web server on loopback that misbehaves on request, and one without any rule."""

import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# For 127.0.0.1, signed with their own key: one valid until 2119, one until 2020 has ended.
CERTIFICATES = {
    name: Path(__file__).parent / "certificates" / f"{name}.pem" for name in ("own", "past")
}


@dataclass
class Page:
    """What one path serves."""

    content: bytes = b""
    etag: str | None = '"one"'
    date: str | None = None
    changes: bool = False  # whether each answer has an ETag of its own
    # "honour" (with If-Range), "ignore", "always" (whatever If-Range says), or "unasked"
    ranges: str = "honour"
    # for the next requests in turn, after how many bytes the connection is cut
    drops: list[int] = field(default_factory=list)
    stalls: list[int] = field(default_factory=list)  # the same, and it stays open for the client
    says_length: bool | str = True  # whether Content-Length is sent, or what it says
    status: int = 200
    location: str | None = None
    encoding: str | None = None
    kind: str | None = None  # Content-Type
    refuses_parts: int | None = None  # the status of an answer to a request for a part
    # what Hugging Face says of a file: its size and its SHA-256, in quotes
    linked: tuple[str, str] | None = None


class Site:
    """Pages by path; `requests` lists path and Range header of each GET.

    With a certificate's name the site speaks TLS.
    """

    def __init__(self, certificate: str | None = None):
        self.pages: dict[str, Page] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.encodings: list[str | None] = []  # that GET accepts
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.requests.append((self.path, self.headers.get("Range")))
                site.encodings.append(self.headers.get("Accept-Encoding"))
                _answer(self, site.pages.get(self.path, Page(b"nothing here", status=404)))

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._scheme = "https" if certificate else "http"
        if certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(CERTIFICATES[certificate])
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def put(self, path: str, **page) -> str:
        self.pages[path] = Page(**page)
        return f"{self._scheme}://127.0.0.1:{self._server.server_port}{path}"

    def close(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _answer(handler: BaseHTTPRequestHandler, page: Page) -> None:
    if page.changes:
        page.etag = f'"{time.monotonic_ns()}"'
    if page.refuses_parts and handler.headers.get("Range"):
        page = Page(status=page.refuses_parts)
    start, size = _start(handler, page), len(page.content)
    if start is not None and start >= size:
        handler.send_response(416)
        handler.send_header("Content-Range", f"bytes */{size}")
        handler.end_headers()
        return
    end = min(_end(handler), size) if start is not None else size
    body = page.content[start or 0 : end]
    handler.send_response(page.status if start is None else 206)
    headers = {
        "ETag": page.etag,
        "Last-Modified": page.date,
        "Location": page.location,
        "Content-Encoding": page.encoding,
        "Content-Type": page.kind,
        "Content-Length": str(len(body)) if page.says_length is True else page.says_length or None,
        "X-Linked-Size": page.linked and page.linked[0],
        "X-Linked-Etag": page.linked and page.linked[1],
        "Content-Range": None if start is None else f"bytes {start}-{end - 1}/{size}",
    }
    for name, value in headers.items():
        if value is not None:
            handler.send_header(name, value)
    handler.end_headers()
    ends = page.drops or page.stalls
    waits = not page.drops and bool(page.stalls)
    handler.wfile.write(body[: ends.pop(0)] if ends else body)
    if waits:
        handler.connection.recv(1)
    handler.close_connection = True


class Script:
    """A server without any rule: a function gets each connection's `send`."""

    def __init__(self, run: Callable[[Callable[[bytes], object]], None]):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}/file"
        self.connections = 0
        self._run = run
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                self.connections += 1
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket):
        with suppress(OSError), connection:
            connection.recv(1 << 16)
            self._run(connection.sendall)

    def close(self):
        self._socket.close()


def _start(handler: BaseHTTPRequestHandler, page: Page) -> int | None:
    """Return where the answer begins, or None for the full page."""
    asked = handler.headers.get("Range")
    same = handler.headers.get("If-Range") in (None, page.etag, page.date)
    if page.ranges == "unasked":
        return 0
    if not asked or page.ranges == "ignore" or (page.ranges == "honour" and not same):
        return None
    return int(asked.removeprefix("bytes=").partition("-")[0])


def _end(handler: BaseHTTPRequestHandler) -> int:
    """Return the byte after the last one of the part that is asked for."""
    last = handler.headers.get("Range", "").partition("-")[2]
    return int(last) + 1 if last else sys.maxsize
