# SPDX-License-Identifier: GPL-2.0-or-later
"""How many inputs a fuzzing test tries: all of them, or a tenth in `make test-fast`."""

import os

FAST_SHARE = 10


def examples(count: int) -> int:
    """Return how many of so many inputs to try."""
    return max(count // FAST_SHARE, 5) if os.environ.get("LAB_TEST_FAST") else count
