# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: a function of ours, and what memory the kernel then finds leaked, if it looks for such."""

import importlib
from typing import Any

from lab.node.measure import kmemleak


def checked(module: str, function: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call it; returns its answer, and kmemleak's report, None where the kernel has none."""
    looks = kmemleak.begin()
    answer = getattr(importlib.import_module(module), function)(**arguments)
    return {"answer": answer, "leaks": kmemleak.report() if looks else None}
