# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m bench.first_paint [PAGE]`: print how long a browser takes from disk to the first matrix of a page."""

import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from lab.base.paths import results
from tests.browser import Browser, chromium

TIMES = 5
WHEN = """const painted = performance.getEntriesByName("first-contentful-paint")[0].startTime;
return Math.max(painted, performance.getEntriesByName("matrix")[0].startTime) / 1e3"""


def matrix_s(browser: Browser, page: Path) -> float:
    """Return the time from the start of the navigation until the matrix is complete and the page is painted."""
    browser.open(page, 1300)
    browser.wait('return performance.getEntriesByName("first-contentful-paint").length')
    return float(browser.ask(WHEN))


def main() -> None:
    """Print the median of some loads, and the page's size."""
    page = Path(sys.argv[1]) if len(sys.argv) > 1 else results() / "index.html"
    with TemporaryDirectory() as profile, chromium(Path(profile)) as browser:
        seconds = [matrix_s(browser, page) for _ in range(TIMES)]
    print(f"{page}: {page.stat().st_size / 1e6:.1f} MB, first matrix after {median(seconds):.2f} s (of {TIMES} loads)")


if __name__ == "__main__":
    main()
