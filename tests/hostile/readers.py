# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything of the lab that reads a file of others, each as its command does: a file in, UserError where refused."""

import os
import resource
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from unittest import mock

import numpy as np
from lab_break.numbers import read_numbers
from lab_break.repeat import whole_find
from lab_break.space import load_bounds
from lab_bundle.use import use
from lab_conform.case import read_case
from lab_conform.run import Attempt, experiment_of
from lab_conform.subject import subject
from lab_course import archive
from lab_course.answers import NOTEBOOK, read_answers
from lab_course.submission import Submission
from lab_quic.log import Clock, Received, read_client, read_server
from lab_quic.stack.prepared import own as senders_of_stack
from lab_quic.stack.qlog import read as read_qlog
from lab_quic.stack.tables import Reported, timed
from lab_quic.tables import sent_ms
from lab_whatif.command import Request, answer
from rich.console import Console
from stack_files import ENDS

from lab.base.errors import UserError, field_error
from lab.base.processes import machine_mb
from lab.links.draw import draw_link
from lab.links.profile import read_profile
from lab.links.shapes import write_steps
from lab.runs import sizes
from lab.runs.experiment import Experiment, load_experiment
from lab.runs.plan import MSS_BYTES, Draw, draw, make_plan
from lab.schema import cca
from lab.schema.dataset import Collections
from lab.schema.load import load
from lab.schema.sysctls import Sysctls
from lab.schema.topology import load_topology
from lab.senders.traced import PORT, SNAPLEN_BYTES
from lab.tables.digests import digest_of, write_digests
from lab.tables.kernel_log import printed
from lab.tables.packets import read_packets
from lab.tables.stored_run import Run
from lab.tables.stored_trial import FILES, Trial
from lab.tables.trace import read_events
from lab.traces import importers
from lab.traces.datasets import by_name
from tests.hostile.draft import DRAFT, LEFT, record_of

DURATION_S = 3
HANDED_IN = {"own.c": 100_000, NOTEBOOK: 1_000_000}  # most bytes of each
MEMORY_BYTES = 6 << 30  # of addresses: numpy, polars and their threads reserve two of them
Reader = Callable[[Path], None]


def scenario(file: Path) -> None:
    load_experiment(str(file))


def profile(file: Path) -> None:
    """Load it, draw a trial's link, check its memory and write its steps, as a run does."""
    read = read_profile(file)
    link = draw_link(read, DURATION_S, np.random.default_rng(1))
    needed_mb = sizes.memory_mb(link, DURATION_S, MSS_BYTES)
    if needed_mb > machine_mb():
        raise field_error(file, "memory_mb", needed_mb, "at most the memory of this machine")
    with tempfile.TemporaryDirectory() as folder:
        write_steps(read, link, Path(folder) / "link")


@cache
def _geo() -> tuple[Experiment, Draw]:
    known = load_experiment("geo")
    return known, draw(known, 1)


def topology(file: Path) -> None:
    """Load it, and plan a trial on it."""
    known, drawn = _geo()
    own = Experiment("own", known.scenario, known.profile, load_topology(str(file), "test"), known.ccas)
    make_plan(own, known.ccas["search"], drawn)


def senders(file: Path) -> None:
    """Load it in the place of lab/cca.yml."""
    with mock.patch.object(cca, "CCAS", file):
        cca.load_ccas()


def sysctls(file: Path) -> None:
    load(Sysctls, file)


def datasets(file: Path) -> None:
    """Load it, and name its recordings."""
    by_name(load(Collections, file).root, file)


def trial_json(file: Path) -> None:
    _sign(file.parent)
    _ = Trial(file.parent).meta


def run_json(file: Path) -> None:
    file.with_name("run.json.sha256").write_text(f"{digest_of(file)}  run.json\n")
    _ = Run(file.parent).meta


def packets_table(file: Path) -> None:
    _sign(file.parent)
    _ = Trial(file.parent).packets


def _sign(trial: Path) -> None:
    """Give a trial's folder its other files, and the digests, as whoever edits a file can."""
    for name in FILES:
        if not (trial / name).exists():
            (trial / name).touch()
    write_digests(trial)


def capture(file: Path) -> None:
    read_packets(file, PORT, SNAPLEN_BYTES)


def trace_format(file: Path, name: str = "one_more.format") -> None:
    """Read a trial's trace with one more format, or with another size of its pages."""
    with tempfile.TemporaryDirectory() as folder:
        formats = Path(shutil.copytree(DRAFT / "formats", folder, dirs_exist_ok=True))
        shutil.copy(file, formats / name)
        read_events(DRAFT / "trace.raw", formats)


def trace(file: Path) -> None:
    read_events(file, DRAFT / "formats")


def recording(file: Path) -> None:
    """Import it by its content, which decides the format."""
    importers.read(file)


def whatif(file: Path) -> None:
    """Infer the link of a capture, or of a log of each ACK."""
    with tempfile.TemporaryDirectory() as folder:
        answer(Request(file, None, None, None, "internal", Path(folder) / "out", 1), Console(quiet=True))


def stack(file: Path) -> None:
    """Read it beside its programs, gather them, and plan a trial of each of its senders."""
    shutil.copyfile(ENDS, file.parent / "ends.py")
    shutil.copy(str(shutil.which("cat")), file.parent / "server")
    known, drawn = _geo()
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"LAB_CACHE": folder}):
        for sender in senders_of_stack(str(file)).values():
            make_plan(replace(known, ccas={sender.name: sender}), sender, drawn)


def stack_qlog(file: Path) -> None:
    """Read the qlog of a stack's server into tables."""
    read = Reported(timed(read_qlog(file, "mine: qlog"), 0.25), 1472)
    for _ in (read.ack_table(), read.loss_table(), read.exit_table("own"), read.reports_exits):
        pass


def own_qlog(file: Path) -> None:
    """Read the qlogs of both ends of the lab's own stacks."""
    sent_ms(file, file, 5)


def kernel_log(file: Path) -> None:
    printed(file)


def submission(file: Path) -> None:
    """Read what a student hands in, and its answers."""
    found = archive.read(file, HANDED_IN)
    answers({each.name.name: each.content for each in found if isinstance(each, archive.Entry)})


def notebook(file: Path) -> None:
    answers({NOTEBOOK: file.read_bytes()})


def answers(files: dict[str, bytes]) -> None:
    """Read the answers among a student's files."""
    read_answers(Submission(Path("s1"), "s1", files))


def bundle(file: Path) -> None:
    """Install it in an empty cache."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"LAB_CACHE": folder}):
        use(file)


def case(file: Path) -> None:
    """Read a case of conformance, and plan its first trial."""
    read, sender = read_case(file), cca.load_cca("cubic", "test", "sender")
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"LAB_RESULTS": folder}):
        planned = experiment_of("test", Attempt(1, read, subject(sender, [read])))
        make_plan(planned, planned.ccas["cubic"], draw(planned, 1))


def bounds(file: Path) -> None:
    load_bounds(str(file))


def find(file: Path) -> None:
    whole_find("search", file)


def numbers(file: Path) -> None:
    """Read the stored numbers of a trial, as of another one's shard."""
    read_numbers(file)


def quic_server(file: Path) -> None:
    read, clock = read_server(file), Clock(0, 1280)
    for table in (clock.ack_table, clock.bin_table, clock.exit_table, clock.loss_table):
        table(read)


def quic_client(file: Path) -> None:
    Received(read_client(file))


READERS: dict[str, Reader] = {
    "scenario": scenario,
    "profile": profile,
    "topology": topology,
    "senders": senders,
    "sysctls": sysctls,
    "datasets": datasets,
    "trial.json": trial_json,
    "run.json": run_json,
    "packets.parquet": packets_table,
    "capture": capture,
    "trace": trace,
    "recording": recording,
    "user.pcap": recording,
    "whatif.pcap": whatif,
    "whatif.log": whatif,
    "kernel.log.zst": kernel_log,
    "submission.zip": submission,
    "submission.tar.gz": submission,
    "notebook.ipynb": notebook,
    "search-lab.bundle": bundle,
    "one_more.format": trace_format,
    "page_bytes": partial(trace_format, name="page_bytes"),
    "case": case,
    "bounds": bounds,
    "find.json": find,
    "numbers.json": numbers,
    "quic-server.log": quic_server,
    "quic-client.log": quic_client,
    "stack": stack,
    "stack.sqlog": stack_qlog,
    "server.qlog": own_qlog,
    **{name: record_of(name) for name in LEFT},
}


def refusal(reader: Reader, file: Path) -> str | None:
    """Return the line that refuses a file; None where it is read. Anything but UserError is a fault of the lab."""
    try:
        reader(file)
    except UserError as refused:
        return str(refused)
    return None


def bound(cpu_s: int) -> None:
    """Bound this process for good."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
