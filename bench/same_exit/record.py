# SPDX-License-Identifier: GPL-2.0-or-later
"""Record streams: short trials of the module and of BPF's source as a module, on links that replay recordings."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench.same_exit.stream import ACK, BIN, recorded, save
from lab.backends.virtual import Virtual
from lab.base.scratch import scratch_folder
from lab.runs.experiment import Experiment, try_link
from lab.runs.trial import Job, prepare
from lab.senders.ways import prepared
from lab.tables.exits import EXIT_EVENT
from lab.tables.trace import read_events

SENDERS = ("search", "search_bpf")
# Profiles whose rate or delay is a recording of datasets.yml, and how long slow start may take there.
LINKS = {
    "lte-att": 4,
    "lte-tmobile": 4,
    "lte-verizon": 4,
    "wifi-office": 3,
    "wifi-restaurant": 3,
    "5g-driving": 4,
    "leo-starlink": 3,
    "geo-klm": 12,
}
TRIALS = 13  # of each sender on each link: 208 streams
SEED = 2026


def record(folder: Path, virtual: Virtual, trials: int = TRIALS) -> Iterator[Path]:
    """Record the streams that a folder lacks; yield the file of each."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, trials + 1):
        for link, duration_s in LINKS.items():
            experiment = try_link(link, list(SENDERS), {"trials": trials, "duration_s": duration_s, "seed": SEED})
            for sender in SENDERS:
                file = folder / f"{link}-{number:03}-{sender}.npz"
                if not file.exists():
                    record_one(experiment, virtual, sender, number, file)
                yield file


def record_one(experiment: Experiment, virtual: Virtual, sender: str, number: int, file: Path) -> None:
    """Run a trial and write its stream."""
    ccas, backend = prepared(experiment.ccas, virtual)
    with scratch_folder() as scratch:
        job = Job(replace(experiment, ccas=ccas), sender, number, scratch, backend)
        plan = prepare(job, scratch)
        plan["trace"]["events"] = dict.fromkeys((ACK, BIN, EXIT_EVENT), "sport == 5201")
        backend.run_plan(plan, scratch)
        save(file, *recorded(read_events(scratch / "trace.raw", scratch / "formats")))
