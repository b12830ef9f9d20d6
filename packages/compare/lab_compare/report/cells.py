# SPDX-License-Identifier: GPL-2.0-or-later
"""The ranking matrix of a comparison: a row per link, in the order of the comparison."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lab.evaluation.measures import MEASURES
from lab.judge.stored import Stored
from lab.report.published import short_label
from lab.report.report_files import PAGE
from lab_compare.comparison import Comparison
from lab_compare.matrix.matrix import Linked, Matrix, matrix
from lab_compare.results import LinkResult


def compared(comparison: Comparison, found: Sequence[LinkResult], folder: Path, primary: str, reports: bool) -> Matrix:
    """Return the matrix of a comparison; the measure that decided comes first.

    reports: a row opens the report of its run, which is there or will be; else only one that is there.
    """
    measures = sorted(MEASURES, key=lambda measure: measure.name != primary)
    page = partial(page_of, folder=folder, reports=reports)
    return matrix([Linked(each) for each in found], labels(comparison), comparison.subjects, page, measures)


def labels(comparison: Comparison) -> dict[str, str]:
    """Return what each sender is called."""
    return {name: short_label(cca.label) for name, cca in comparison.senders.items()}


def page_of(stored: Stored, folder: Path, reports: bool) -> str | None:
    """Return where the report of a run lies, as seen from a folder."""
    report = stored.run.path.resolve() / PAGE
    shown = reports or report.exists()
    return Path(os.path.relpath(report, folder.resolve())).as_posix() if shown else None
