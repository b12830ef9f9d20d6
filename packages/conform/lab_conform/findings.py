# SPDX-License-Identifier: GPL-2.0-or-later
"""Failures that were looked at by hand, packet by packet: what is at fault, and what the packets show."""

from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from lab.schema.load import Strict, read_yaml
from lab_conform.case import Text

FILE = Path(__file__).parent / "findings.yml"
Names = Annotated[list[str], Field(min_length=1)]


class Finding(Strict):
    """One cause, and the cells of the matrix that it explains."""

    senders: Names
    cases: Names
    fault: Literal["sender", "draft"]  # those of cases and of the lab are mended
    text: Text


@cache
def findings() -> list[Finding]:
    """Return all findings, in the order of the file."""
    return TypeAdapter(list[Finding]).validate_python(read_yaml(FILE))


def finding(sender: str, case: str) -> Finding | None:
    """Return what is known of a case that fails on a sender; None where nobody has looked."""
    return next((each for each in findings() if sender in each.senders and case in each.cases), None)
