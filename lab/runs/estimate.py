# SPDX-License-Identifier: GPL-2.0-or-later
"""How long trials take, as `make bench-reproduce` measured it: by scenario, others by the median of all scenarios."""

import json
import math
from functools import cache
from statistics import median

from lab.base.paths import REPO

MEASURED = REPO / "docs" / "measurements" / "reproduce.json"
BOOT_S = 8.0  # virtual seconds that cost as much as a trial's start: `make bench-reproduce` measures it


def minutes(scenario: str, trials: int, duration_s: float, workers: int) -> float:
    """Return the minutes of so many trials on so many workers; nan where the measurements are not at hand."""
    costs = _costs()
    cost = costs.get(scenario, median(costs.values()) if costs else math.nan)
    return trials * (duration_s + BOOT_S) * cost / workers / 60


def about(minutes: float) -> str:
    """Return minutes in words."""
    return "a time that was not measured" if math.isnan(minutes) else f"about {max(round(minutes), 1)} min"


@cache
def _costs() -> dict[str, float]:
    """Return the seconds of a worker that a virtual second costs, by scenario; none in a checkout without docs/."""
    if not MEASURED.is_file():
        return {}
    stored = json.loads(MEASURED.read_text(encoding="utf-8"))
    cores = stored["machine"]["cores"]
    return {row["scenario"]: row["wall_s"] * cores / (row["duration_s"] + BOOT_S) for row in stored["scenarios"]}
