# SPDX-License-Identifier: GPL-2.0-or-later
"""The digest of the grader's own code, and of the code that judges: with another one a grade is made again."""

from functools import cache
from pathlib import Path

from lab.judge.source import judging_digest
from lab.kernel.build import digest_of_files


@cache
def code_digest() -> str:
    """Return the digest."""
    return digest_of_files(sorted(Path(__file__).parent.rglob("*.py")), judging_digest())
