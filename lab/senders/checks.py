# SPDX-License-Identifier: GPL-2.0-or-later
"""One comparison of a trial's certificate."""

from lab.tables.trial_json import Check


def check(name: str, target: float, got: float | None, unit: str, tolerance: float, missing_ok: bool = False) -> Check:
    """Compare a measured value with its target; `missing_ok`: null passes."""
    ok = missing_ok if got is None else abs(got - target) <= tolerance
    return {"name": name, "asked": target, "got": got, "unit": unit, "tolerance": tolerance, "ok": ok}
