# SPDX-License-Identifier: GPL-2.0-or-later
"""A program with both ends of a QUIC download: what the build of each stack returns."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LICENCES = "licences"  # beside the program: the texts of what is linked into it, by package
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Program:
    """A built program, and the digest of all that it is made of."""

    program: Path
    digest: str
