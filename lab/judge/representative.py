# SPDX-License-Identifier: GPL-2.0-or-later
"""Which trial of a sender the page shows in detail: the one with the median exit time.

Of the valid trials that left slow start, in order of exit time, the middle one (the earlier of the two
middle ones): neither the luckiest nor the worst, and chosen by a rule that was fixed before anyone saw the
figures. When no valid trial left slow start, the first valid one; when none is valid, none.
"""

import polars as pl


def representatives(outcomes: pl.DataFrame) -> dict[str, int]:
    """Trial number to show for each sender that has a valid trial."""
    trials = outcomes.filter("valid").unique(["cca", "trial"], keep="first").sort("exit_s", "trial", nulls_last=True)
    chosen: dict[str, int] = {}
    for (cca,), of_cca in trials.group_by("cca", maintain_order=True):
        left = of_cca.height - of_cca["exit_s"].null_count()
        chosen[str(cca)] = int(of_cca["trial"][max(left - 1, 0) // 2])
    return chosen
