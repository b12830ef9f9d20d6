# SPDX-License-Identifier: GPL-2.0-or-later
"""Root folders that the package's programs are built in: each a package list and its lock."""

from pathlib import Path

FOLDER = Path(__file__).parent
