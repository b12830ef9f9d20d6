# SPDX-License-Identifier: GPL-2.0-or-later
"""containerlab, built from its own Go module of one pinned version; go.sum locks all its dependencies."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from lab.base import paths
from lab.base.cache import ensured
from lab.base.errors import UserError
from lab.base.processes import ENDING_WITH_THIS

SOURCE = Path(__file__).parent / "containerlab"
BINARY = "containerlab"
VERSION = "v0.60.0"
FLAGS = ["-p", "1", "-trimpath", "-ldflags", f"-s -w -X github.com/srl-labs/containerlab/cmd.version={VERSION[1:]}"]


def ensure() -> Path:
    """Return the program; build it if it is not cached, which takes some minutes of one processor."""
    return ensured(paths.cache() / f"containerlab-{_digest()}", _build) / BINARY


def _digest() -> str:
    digest = hashlib.sha256(repr(FLAGS).encode())
    for file in sorted(file for file in SOURCE.rglob("*") if file.is_file()):
        digest.update(str(file.relative_to(SOURCE)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _build(draft: Path) -> None:
    go = shutil.which("go", path=f"{os.environ.get('PATH', '')}:/usr/local/go/bin")
    if not go:
        raise UserError("go: not installed: version 1.22 or later builds containerlab: run 'make setup-vm'")
    environment = os.environ | {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly -buildvcs=false", "GOTOOLCHAIN": "local"}
    command = [*ENDING_WITH_THIS, "nice", "-n", "10", go, "build", *FLAGS, "-o", str(draft / BINARY), "."]
    done = subprocess.run(command, cwd=SOURCE, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        log = paths.cache() / "containerlab.log"
        log.write_text(done.stderr)
        lines = [line for line in done.stderr.splitlines() if not line.startswith("go: downloading")]
        raise UserError(f"go build containerlab {VERSION}: {(lines or ['failed'])[-1]} (log: {log})")
