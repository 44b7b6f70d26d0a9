"""A small MCP server behind a URL that wants a token: of the standard library, in a thread."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOOL = {"name": "seen", "description": "What came.", "inputSchema": {"type": "object", "properties": {}}}


def _result(method: str, params: dict[str, Any], headers: dict[str, str]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            info = {"name": "over http", "version": "1"}
            version = params["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            return {"content": [{"type": "text", "text": headers.get("X-Tenant", "nobody")}]}
        case _:
            return None


class _Handler(BaseHTTPRequestHandler):
    token = ""

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != f"Bearer {self.token}":
            self._answer(401, b"")
        elif "id" not in message:
            self._answer(202, b"")
        else:
            result = _result(message["method"], message.get("params") or {}, dict(self.headers))
            error = {"code": -32601, "message": "no such method"}
            answer = {"error": error} if result is None else {"result": result}
            self._answer(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode())

    def do_GET(self) -> None:
        self._answer(405, b"")

    do_DELETE = do_GET

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is told of requests."""


@contextmanager
def serving(token: str) -> Iterator[str]:
    """The URL of a server that lets in who shows the token."""
    handler = type("Handler", (_Handler,), {"token": token})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
        server.shutdown()
        thread.join()
