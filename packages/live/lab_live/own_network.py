# SPDX-License-Identifier: GPL-2.0-or-later
"""Qdiscs on interfaces of a network of the user's own, on this machine: node/own_network.py runs as root."""

import json
import math
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from lab_vm.host import as_root
from lab_vm.node.leases import FOLDERS

from lab.base.errors import UserError
from lab.node.plan import Shape


def replay(shapes: list[Shape], write_steps: Callable[[Path], None], duration_s: float) -> list[str]:
    """Let interfaces follow their steps, which are written into a folder; return a line per qdisc.

    Whatever ends this process closes the node's standard input, and with that the node takes everything down.
    """
    place, prefix = FOLDERS
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place, ignore_cleanup_errors=True) as folder:
        write_steps(Path(folder))
        (Path(folder) / "replay.json").write_text(json.dumps({"shapes": shapes, "duration_s": duration_s}))
        status, printed, errors = attended(as_root("lab_live.node.own_network", folder))
    if status:
        raise UserError(f"replay: {(errors.strip().splitlines() or ['was killed'])[-1]}")
    return printed.splitlines()


def attended(command: list[str]) -> tuple[int, str, str]:
    """Run the node's command; Ctrl-C closes its standard input, and waits until it has taken everything down."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        process.wait(math.inf)  # it looks again: a Ctrl-C that comes just before a wait without a time is lost
    finally:
        printed, errors = process.communicate()
    return process.returncode, printed, errors
