# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs that mean harm: a corpus with the expected line of each, and fuzzing of everything that reads a file."""

import sys

from lab.base.entry_points import brought
from lab.base.paths import REPO

brought("lab.commands")  # from here on the packages of this checkout can be imported
sys.path += [
    str(REPO / "packages" / name)
    for name in ("formats/tests/unit", "bundle/tests", "whatif/tests", "quic/tests", "quic/tests/unit")
]  # and what makes samples
