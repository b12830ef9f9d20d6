# SPDX-License-Identifier: GPL-2.0-or-later
"""Forms of SEARCH that a source measured, and no module has: a version with the source's own constants.

The poster states its windows in milliseconds, "about 3.5 RTT", whatever the round trip of a download is. The core takes
the window from the first round trip: with one of window / 3.5 in its place, the window is the stated one.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lab.judge.slow_start import SlowStartExit
from lab_papers.evaluation.search.replay import Download, exit_of, varied
from lab_papers.search_replay import version


@dataclass(frozen=True)
class Form:
    """A version with the constants of a source."""

    version: str
    label: str
    threshold_pct: int
    window_ms: int
    bins: int

    def exit_of(self, library: Path, download: Download) -> SlowStartExit | None:
        """When the form would have left slow start; the download's own exit where a loss came first."""
        published = version(library, self.version).params
        form = varied(published, threshold_pct=self.threshold_pct, bins=self.bins)
        rtt_us = np.array(download.rtt_us)
        rtt_us[np.flatnonzero(rtt_us > 0)[:1]] = round(self.window_ms * 1e4 / published.window_factor_tenths)
        return exit_of(library, replace(download, rtt_us=rtt_us), form)


FORMS = {
    f"search1_poster_{link}": Form(
        "search1",
        f"SEARCH 1.0 with the poster's constants (25 %, {window_ms} ms)",
        threshold_pct=25,
        window_ms=window_ms,
        bins=10,
    )
    for link, window_ms in (("geo", 2000), ("leo", 200))
}


def exit_of_form(library: Path, name: str, download: Download) -> SlowStartExit | None:
    """When a version or a form, by its name, would have left slow start."""
    form = FORMS.get(name)
    return form.exit_of(library, download) if form else exit_of(library, download, version(library, name))
