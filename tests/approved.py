# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts that somebody has read and approved: a change of the program that changes one is noticed.

`LAB_APPROVE=1` replaces the stored ones; the difference that git shows is what is to be read.
"""

import json
import os
from typing import Any

from lab.base.paths import REPO

FOLDERS = (REPO / "tests/data/approved", *sorted(REPO.glob("packages/*/tests/data/approved")))


def json_in_six_digits(value: Any) -> str:
    """Return JSON whose fractions have the digits that every machine's arithmetic gives."""
    rounded = json.loads(json.dumps(value), parse_float=lambda digits: float(f"{float(digits):.6g}"))
    return json.dumps(rounded, sort_keys=True)


def approved(name: str, text: str) -> str:
    """Return the approved text of a name; with LAB_APPROVE, but never in CI, approve this one."""
    file = next((folder / name for folder in FOLDERS if (folder / name).exists()), FOLDERS[0] / name)
    if os.environ.get("LAB_APPROVE") and not os.environ.get("CI"):
        file.write_text(text)
    return file.read_text()
