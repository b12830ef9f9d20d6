# SPDX-License-Identifier: GPL-2.0-or-later
"""What the running kernel says of a module: where it came from, what it is, its parameters as they now are."""

from pathlib import Path
from typing import Any

from lab.node.tools import run

SYS = Path("/sys/module")


def describe(name: str) -> dict[str, Any]:
    """Load a module, and return what is known of it."""
    run("modprobe", name)
    fields = [line.split(":", 1) for line in run("modinfo", name).splitlines() if ":" in line]
    words = {key.strip(): value.strip() for key, value in fields}
    told = dict(value.strip().split(":", 1) for key, value in fields if key.strip() == "parm")
    return {
        "file": words["filename"],
        "description": words.get("description"),
        "parameters": [
            {"name": parameter, "value": value, "meaning": told.get(parameter, "")}
            for parameter, value in _parameters(name)
        ],
    }


def _parameters(name: str) -> list[tuple[str, str]]:
    files = sorted((SYS / name / "parameters").glob("*"))
    return [(file.name, file.read_text().strip()) for file in files]
