# SPDX-License-Identifier: GPL-2.0-or-later
"""Lumos5G's iperf3 TCP downloads over 5G as CSV: several runs in a file, one row per second."""

from pathlib import Path

from lab.base.errors import field_error
from lab.traces.recording import Recording
from lab_formats.preset import Preset, has_columns
from lab_formats.reading.iperf3_tests import GOODPUT, RAMP_KEPT

PRESET = Preset(
    name="lumos5g",
    reads="CSV of Lumos5G",
    gives="goodput",
    fits=has_columns("run_num", "seq_num", "Throughput", "nrStatus", "mobility_mode"),
    columns="t_s=seq_num, rate_down_mbps=Throughput",  # Mb/s by the data set's paper; its README names no unit
    meaning="goodput",
    notes=(GOODPUT, RAMP_KEPT),
)


def read(path: Path, *, run: int | None = None) -> Recording:
    """Read the goodput of a run; `run` picks one of several."""
    table = PRESET.table(path)
    runs = table.numbers("run_num", 0)
    if run is None and runs.n_unique() == 1:
        run = int(runs[0])
    if isinstance(run, bool) or run not in runs.to_list():
        raise field_error(path, "run", run, "given, one of run_num's")
    return PRESET.recording(table.only(runs == run), (f"Run {run} of {runs.n_unique()}.",))


IMPORTERS = (PRESET.importer(read),)
