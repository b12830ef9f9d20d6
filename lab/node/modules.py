# SPDX-License-Identifier: GPL-2.0-or-later
"""Loading kernel modules."""

from typing import Any

from lab.node.tools import NodeError, run


def load(name: str, params: dict[str, Any] | None = None) -> None:
    """Load a module; where the kernel refuses it, its log says why, and modprobe does not."""
    try:
        run("modprobe", name, *(f"{key}={value}" for key, value in (params or {}).items()))
    except NodeError as error:
        said = [line for line in run("dmesg", "--notime").splitlines() if line.startswith(name)]
        rules = [line for line in said if "must be" in line]  # the module's own words come before the kernel's
        raise NodeError(f"{error}; kernel: {[*said, *rules][-1] if said else 'silent'}") from None
