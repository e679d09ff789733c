"""A registry for tests: Confluent's HTTP, as far as reading and writing records need it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote


class Registry:
    """`url` says where. `asked` counts requests; `is_away` makes it answer with an error."""

    def __init__(self) -> None:
        self.schemas: list[dict[str, Any]] = []
        self.subjects: dict[str, list[int]] = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.is_away = False
        self.url = ""

    def register(self, subject: str, schema: str, **more: Any) -> int:
        entry = {"schema": schema, **more}
        if entry not in self.schemas:
            self.schemas.append(entry)
        id = self.schemas.index(entry) + 1
        versions = self.subjects.setdefault(subject, [])
        if id not in versions:
            versions.append(id)
        return id

    def answer(self, path: str, body: dict[str, Any] | None) -> tuple[int, Any]:
        match [unquote(part) for part in path.strip("/").split("/")]:
            case ["schemas", "ids", id] if int(id) <= len(self.schemas):
                return 200, self.schemas[int(id) - 1]
            case ["subjects", subject, "versions"] if body is not None:
                kind = body.get("schemaType", "AVRO")
                more = {} if kind == "AVRO" else {"schemaType": kind}
                return 200, {"id": self.register(subject, body["schema"], **more)}
            case ["subjects", subject, "versions", version] if subject in self.subjects:
                versions = self.subjects[subject]
                number = len(versions) if version == "latest" else int(version)
                chosen = versions[number - 1]
                found = {"subject": subject, "version": number, "id": chosen}
                return 200, found | self.schemas[chosen - 1]
        return 404, {"error_code": 40403, "message": "Schema not found"}


@contextmanager
def running() -> Iterator[Registry]:
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            self._answer(json.loads(self.rfile.read(size)))

        def _answer(self, body: dict[str, Any] | None) -> None:
            registry.asked.append(self.path)
            registry.headers.append(dict(self.headers))
            code, found = registry.answer(self.path, body)
            self.send_response(503 if registry.is_away else code)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        registry.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join()
