# SPDX-License-Identifier: GPL-2.0-or-later
"""Root folders that the program is built and tried in: each a package list and its lock."""

from pathlib import Path

FOLDER = Path(__file__).parent
