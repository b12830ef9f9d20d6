# SPDX-License-Identifier: GPL-2.0-or-later
"""What a measure raises where a trial does not have what it measures."""


class Unmeasured(Exception):
    """A trial that lacks what is measured; its text is the reason."""
