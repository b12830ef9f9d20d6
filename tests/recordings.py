# SPDX-License-Identifier: GPL-2.0-or-later
"""Small collections of the tests' own, and an origin that serves a folder with the paths of a public one."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from lab.schema.dataset import Collections
from lab.traces.datasets import Dataset, by_name

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def stanza(files: dict[str, bytes], **changes: object) -> dict[str, object]:
    """Build a collection of files with these contents."""
    entries = {name: {"bytes": len(content), "sha256": sha256(content)} for name, content in files.items()}
    return {
        "link": "a link of the tests",
        "repository": "someone/somewhere",
        "commit": COMMIT,
        "path": "data/{file}",
        "licence": "CC0-1.0",
        "attribution": "nobody",
        "recorded": ["rtt"],
        "holds": "a few numbers",
        "files": entries,
        "documents": {},
    } | changes


def collection(files: dict[str, bytes], **changes: object) -> list[Dataset]:
    """Return the datasets of a collection named `mine`."""
    return list(by_name(Collections.model_validate({"mine": stanza(files, **changes)}).root).values())


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
