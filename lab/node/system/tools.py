# SPDX-License-Identifier: GPL-2.0-or-later
"""Running the system's tools, in a node or outside of one."""

import json
import os
import subprocess
from typing import Any


class NodeError(Exception):
    """A step of a trial that the kernel or a tool refused; its text is one line."""


def file_of(tool: str) -> str:
    """Return a tool's file, by PATH: Python starts a file by posix_spawn, in 60 system calls fewer than a name."""
    files = (f"{folder}/{tool}" for folder in os.get_exec_path())
    return next((file for file in files if os.access(file, os.X_OK)), tool)


def run(*argv: str, stdin: str | None = None) -> str:
    """Run a tool and return its output; NodeError with its message where it fails."""
    done = subprocess.run(argv, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        problem = f"{' '.join(argv)}: exit status {done.returncode}: {(done.stderr or done.stdout).strip()}"
        raise NodeError(problem.replace("\n", "; "))
    return done.stdout


def run_json(*argv: str, stdin: str | None = None) -> Any:
    """Run a tool that prints JSON and return the decoded output."""
    return json.loads(run(*argv, stdin=stdin) or "null")
