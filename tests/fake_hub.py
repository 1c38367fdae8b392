"""A server on this machine with the few answers of the Hugging Face hub that reading a dataset
asks for.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

_INFO = re.compile(r"/api/datasets/(?P<repo>[^/]+/[^/]+?)(?:/revision/(?P<revision>[^/]+))?")
_TREE = re.compile(
    r"/api/datasets/(?P<repo>[^/]+/[^/]+)/tree/(?P<revision>[^/]+)(?:/(?P<folder>.*))?"
)
# old clients ask for it
_LAST = {"id": "0" * 40, "title": "files", "date": "2024-01-01T00:00:00.000Z"}
_PATHS = re.compile(r"/api/datasets/(?P<repo>[^/]+/[^/]+)/paths-info/(?P<revision>[^/]+)")
_FILE = re.compile(r"/datasets/(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)")


@dataclass
class Repository:
    """A dataset: the files of each commit, and the commit of each branch."""

    commits: dict[str, dict[str, bytes]]
    branches: dict[str, str]
    gated: bool = False


@dataclass
class FakeHub:
    """The running server. `requests` has the method and the path of each request."""

    address: str
    repositories: dict[str, Repository] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    status: int | None = None  # what it answers to everything

    def add(
        self, repo: str, files: dict[str, bytes], *, branch: str = "main", gated: bool = False
    ) -> str:
        """Commit files to a branch and return the commit."""
        digest = hashlib.sha1(repo.encode())
        for path in sorted(files):
            digest.update(path.encode() + files[path])
        commit = digest.hexdigest()
        repository = self.repositories.setdefault(repo, Repository({}, {}, gated))
        repository.commits[commit] = files
        repository.branches[branch] = commit
        return commit


@contextmanager
def fake_hub() -> Iterator[FakeHub]:
    """Run the server while the block runs."""

    class HubHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with suppress(ConnectionError):
                _answer(self, hub)

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), HubHandler) as listener:
        listener.daemon_threads = True
        hub = FakeHub(f"http://127.0.0.1:{listener.server_address[1]}")
        thread = threading.Thread(
            target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        thread.start()
        try:
            yield hub
        finally:
            listener.shutdown()
            thread.join()


def _answer(handler: BaseHTTPRequestHandler, hub: FakeHub) -> None:
    path = unquote(urlsplit(handler.path).path)
    raw = urlsplit(handler.path).path  # a revision may have slashes, which are quoted
    hub.requests.append((handler.command, path))
    body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    if hub.status is not None:
        return _send(handler, hub.status, b"{}")
    for pattern in (_FILE, _TREE, _PATHS, _INFO):
        if match := pattern.fullmatch(raw):
            facts = {name: unquote(value) for name, value in match.groupdict().items() if value}
            break
    else:
        return _send(handler, 404, b"{}")
    repository = hub.repositories.get(facts["repo"])
    if repository is None:
        return _refuse(handler, 404, "RepoNotFound")
    revision = facts.get("revision", "main")
    commit = repository.branches.get(revision, revision)
    if commit not in repository.commits:
        return _refuse(handler, 404, "RevisionNotFound")
    files = repository.commits[commit]
    if pattern is _FILE:
        if repository.gated:
            return _refuse(handler, 401, "GatedRepo")
        return _send_file(handler, files.get(facts["path"]), commit)
    if pattern is _INFO:
        siblings = [{"rfilename": path} for path in files]
        info = {
            "id": facts["repo"],
            "sha": commit,
            "siblings": siblings,
            "private": False,
            "tags": [],
            "downloads": 0,
        }
        return _send_json(
            handler, {**info, "likes": 0, "gated": "manual" if repository.gated else False}
        )
    if repository.gated:
        return _refuse(handler, 401, "GatedRepo")
    if pattern is _TREE:
        entries = _list_folder(
            files, facts.get("folder", ""), "recursive=true" in handler.path.lower()
        )
        if not entries:
            return _refuse(handler, 404, "EntryNotFound")
        return _send_json(handler, entries)
    request = json.loads(body) if body.startswith(b"{") else {}
    names = request.get("paths", []) or [
        unquote(name) for name in re.findall(rb"paths=([^&]+)", body)
    ]
    requested = [name.decode() if isinstance(name, bytes) else name for name in names]
    entry_of = {entry["path"]: entry for entry in _list_folder(files, "", True)}
    return _send_json(handler, [entry_of[name] for name in requested if name in entry_of])


def _list_folder(files: dict[str, bytes], folder: str, recursive: bool) -> list[dict[str, object]]:
    start = f"{folder.rstrip('/')}/" if folder else ""
    entries: dict[str, dict[str, object]] = {}
    for path, content in files.items():
        if not path.startswith(start):
            continue
        parts = path[len(start) :].split("/")
        for i in range(1, len(parts)):
            name = start + "/".join(parts[:i])
            if i == 1 or recursive:
                entries[name] = {
                    "type": "directory",
                    "path": name,
                    "oid": "0" * 40,
                    "size": 0,
                    "lastCommit": _LAST,
                }
        if len(parts) == 1 or recursive:
            oid = hashlib.sha1(content).hexdigest()
            facts = {"oid": oid, "size": len(content), "lastCommit": _LAST, "security": None}
            entries[path] = {"type": "file", "path": path, **facts}
    return list(entries.values())


def _send_file(handler: BaseHTTPRequestHandler, content: bytes | None, commit: str) -> None:
    if content is None:
        return _refuse(handler, 404, "EntryNotFound")
    headers = {
        "ETag": f'"{hashlib.sha1(content).hexdigest()}"',
        "X-Repo-Commit": commit,
        "Accept-Ranges": "bytes",
    }
    byte_range = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("Range", ""))
    if byte_range is None:
        return _send(handler, 200, content, headers)
    start, end = int(byte_range[1]), min(int(byte_range[2] or len(content) - 1), len(content) - 1)
    headers["Content-Range"] = f"bytes {start}-{end}/{len(content)}"
    return _send(handler, 206, content[start : end + 1], headers)


def _send_json(handler: BaseHTTPRequestHandler, value: object) -> None:
    _send(handler, 200, json.dumps(value).encode(), {"Content-Type": "application/json"})


def _refuse(handler: BaseHTTPRequestHandler, status: int, code: str) -> None:
    _send(handler, status, b'{"error": "refused"}', {"X-Error-Code": code, "X-Error-Message": code})


def _send(
    handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str] | None = None
) -> None:
    handler.send_response(status)
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(body)
