# SPDX-License-Identifier: GPL-2.0-or-later
"""The running kernel's modules: loading one, and what it says of itself and its parameters as they now are."""

from pathlib import Path
from typing import Any

from lab.node.tools import NodeError, run

SYS = Path("/sys/module")


def load(name: str, params: dict[str, Any] | None = None) -> None:
    """Load a module; where the kernel refuses it, its log says why, and modprobe does not."""
    try:
        run("modprobe", name, *(f"{key}={value}" for key, value in (params or {}).items()))
    except NodeError as error:
        said = [line for line in run("dmesg", "--notime").splitlines() if line.startswith(name)]
        rules = [line for line in said if "must be" in line]  # the module's own words come before the kernel's
        raise NodeError(f"{error}; kernel: {[*said, *rules][-1] if said else 'silent'}") from None


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
