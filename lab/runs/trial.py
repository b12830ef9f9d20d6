# SPDX-License-Identifier: GPL-2.0-or-later
"""One trial: planned, run, decoded, certified, stored. A folder of it appears only when all of that is done."""

import json
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from lab.backends.backend import Backend
from lab.backends.real_time import add_topology
from lab.backends.records import TrialError
from lab.base import sandbox_mode, strict_json
from lab.base.contract import check
from lab.base.errors import UserError
from lab.base.plain_file import MEGABYTE, read_plain
from lab.kernel.stacks import stack_of
from lab.links.shapes import write_steps
from lab.node.plan import Plan
from lab.node.record import NodeRecord
from lab.runs.certificate import certify
from lab.runs.experiment import Experiment
from lab.runs.plan import PORT, RIVAL_PORT, SNAPLEN_BYTES, draw, make_plan, own_file
from lab.runs.quic_programs import program_of
from lab.tables import downloads, quic, workload
from lab.tables.acks import Clock, ack_table, retransmit_table, state_table
from lab.tables.digests import write_digests
from lab.tables.exits import bin_table, exit_table
from lab.tables.header_capture import keep_headers
from lab.tables.kernel_log import STORED as LOG
from lab.tables.kernel_log import forget_failed_log, keep_failed_log, keep_log
from lab.tables.link import read_link
from lab.tables.packets import read_packets
from lab.tables.qdisc import qdisc_table
from lab.tables.stored_trial import FORMAT, Trial
from lab.tables.trace import read_events
from lab.tables.trial_json import Certificate, Download, FlowJson, TrialJson
from lab.tables.trial_tables import TRIAL_TABLES, write_tables

MOST_NODE_BYTES = 100 * MEGABYTE
CAPTURED = "client.pcapng"
STORED = ("plan.json", "trial.json", LOG, *(f"{name}.parquet" for name in TRIAL_TABLES))


@dataclass(frozen=True)
class Job:
    """One trial to do: which sender, which number, and where its folder will be."""

    experiment: Experiment
    cca: str
    number: int
    folder: Path
    backend: Backend
    keep_capture: bool = True


def run_trial(job: Job) -> TrialJson:
    """Run a trial and store it; returns its trial.json."""
    with new_draft(job.folder) as draft:
        plan = prepare(job, draft)
        try:
            job.backend.run_plan(plan, draft)
            return finish(job, plan, draft)
        except TrialError:
            keep_failed_log(draft, *_place(job.folder))
            raise


@contextmanager
def new_draft(folder: Path) -> Iterator[Path]:
    """Yield a new folder beside that of a trial, which is run in it; what is left of it is removed."""
    unique = uuid.uuid4().hex[:8]  # a lost worker may still write its own
    draft = folder.parent / f".{folder.name}.{unique}.draft"
    draft.mkdir(parents=True)
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def finish(job: Job, plan: Plan, draft: Path) -> TrialJson:
    """Store what a plan has left in a draft, and give that its name; returns its trial.json."""
    meta = store(job, plan, draft)
    _publish(draft, job.folder)
    forget_failed_log(*_place(job.folder))
    return meta


def _place(trial: Path) -> tuple[Path, str]:
    """Return the run and the name of a trial's folder."""
    return trial.parents[1], trial.name


def _publish(draft: Path, folder: Path) -> None:
    """Give a whole draft its digests and its name; where another worker was first, its trial is the same."""
    write_digests(draft)
    if folder.exists() and not Trial(folder).is_whole:
        shutil.rmtree(folder)  # of a disk that was full, or worse
    try:
        draft.replace(folder)
    except OSError:
        if not Trial(folder).is_whole:
            raise


def prepare(job: Job, folder: Path) -> Plan:
    """Draw a trial's link, write its steps into the trial's folder, and return its plan."""
    drawn = draw(job.experiment, job.number)
    write_steps(job.experiment.profile, drawn.link, folder / "link")
    add_topology(folder, job.backend.engine, job.experiment.topology.name)
    _add_own_modules(job, folder)
    return job.backend.adapt(make_plan(job.experiment, job.experiment.ccas[job.cca], drawn))


def _add_own_modules(job: Job, folder: Path) -> None:
    """Copy the modules that are not the lab's own into a trial's folder, as this backend's kernel loads them."""
    rival = job.experiment.rival
    for cca in (job.experiment.ccas[job.cca], *([rival] if rival else [])):
        if cca.module and cca.module_digest:
            place = folder / own_file(cca.module)
            place.parent.mkdir(exist_ok=True)
            shutil.copyfile(job.backend.own_modules[cca.module_digest], place)
        elif cca.stack:
            place = folder / stack_of(cca).place
            place.parent.mkdir(exist_ok=True)
            shutil.copy(program_of(cca, job.backend), place)


def store(job: Job, plan: Plan, folder: Path) -> TrialJson:
    """Decode the raw records of a folder into tables and trial.json, and remove all else."""
    node = read_node(folder / "node.json")
    rival = job.experiment.rival
    senders = [job.experiment.ccas[job.cca], *([rival] if rival else [])]
    over = quic.Ends(folder, plan["flows"][0]) if plan.get("work") == "quic" else None
    causes = (sender.exit_causes for sender in senders)
    tables = decode_quic(folder, node, over) if over else decode(folder, node, *causes)
    measured = downloads.measure(plan, node, tables)
    if over:
        measured = [quic.counted(each, tables) for each in measured]
    if error := downloads.failure(plan, node, measured):
        raise TrialError(error)
    tables = downloads.cut(tables, measured)
    write_tables(tables, folder)
    meta = _meta(job, plan, node, measured, certify(plan, node, tables, over))
    if plan.get("work") == "workload":
        meta["workload"] = workload.read(folder, plan["flows"][0], node["downloads"][0], measured[0])
    (folder / "trial.json").write_text(json.dumps(meta, indent=1))
    stored = {*STORED, *quic.QLOGS, f"{CAPTURED}.zst"} if job.keep_capture else {*STORED}
    keep_log(folder)
    if job.keep_capture:
        keep_headers(folder / CAPTURED, folder / f"{CAPTURED}.zst", SNAPLEN_BYTES)
        quic.keep_qlogs(folder)
    for path in list(folder.iterdir()):
        if path.name not in stored:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return meta


def decode(folder: Path, node: NodeRecord, *causes: Mapping[str, str]) -> dict[str, pl.DataFrame]:
    """Decode the raw records of a trial; `causes` are those of each sender's exit (Cca.exit_causes)."""
    capture = read_packets(folder / CAPTURED, PORT, SNAPLEN_BYTES)
    start_ns = capture.start_ns - node["clocks"]["realtime_ns"] + node["clocks"]["monotonic_ns"]
    events = read_events(folder / "trace.raw", folder / "formats")
    clock = Clock(start_ns, capture.client_ports | ({RIVAL_PORT: downloads.RIVAL} if len(causes) > 1 else {}))
    exits = [exit_table(events, clock, own).filter(pl.col("flow") == flow) for flow, own in enumerate(causes, 1)]
    return {
        "packets": capture.packets,
        "acks": ack_table(events, clock, capture.server_isn),
        "ca_states": state_table(events, clock),
        "retransmits": retransmit_table(events, clock),
        "bins": bin_table(events, clock),
        "exits": pl.concat(exits),
        "link": read_link(folder, node["applied"], (node["start_ns"] - start_ns) / 1e9),
        "qdisc": qdisc_table(events, start_ns),
    }


def decode_quic(folder: Path, node: NodeRecord, ends: quic.Ends) -> dict[str, pl.DataFrame]:
    """Decode the raw records of a trial over QUIC: the same tables, from the capture and from both ends' logs."""
    start_ns = ends.start_epoch_ns - node["clocks"]["realtime_ns"] + node["clocks"]["monotonic_ns"]
    events = read_events(folder / "trace.raw", folder / "formats")
    return {
        **ends.tables(start_ns),
        "link": read_link(folder, node["applied"], (node["start_ns"] - start_ns) / 1e9),
        "qdisc": qdisc_table(events, start_ns),
    }


def read_node(file: Path) -> NodeRecord:
    """Read node.json; UserError where it is too large, no JSON, or breaks its contract."""
    try:
        content = strict_json.loads(read_plain(file, MOST_NODE_BYTES))
    except (ValueError, RecursionError):
        raise UserError(f"{file}: must be whole JSON") from None
    check(content, NodeRecord, file)
    node: NodeRecord = content
    return node


def _flow(job: Job, node: NodeRecord, measured: Download, cca: str) -> FlowJson:
    """Return a download with its sender, and the parameters that the sender's module had."""
    found = node.get("modules", {}).get(job.experiment.senders[cca].module or "", {})
    return {**measured, "cca": cca, "parameters": found}


def _meta(job: Job, plan: Plan, node: NodeRecord, measured: list[Download], certificate: Certificate) -> TrialJson:
    experiment = job.experiment
    senders = (job.cca, experiment.scenario.rival or "")
    meta: TrialJson = {
        "format": FORMAT,
        "cca": job.cca,
        "trial": job.number,
        "seed": plan["seed"],
        "scenario": experiment.name,
        "profile": experiment.scenario.profile,
        "duration_s": experiment.scenario.duration_s,
        "base_rtt_ms": plan["link"]["base_rtt_ms"],
        "rate_mbps": plan["link"]["rate_mbps"],
        "buffer_bytes": plan["link"]["buffer_bytes"],
        "mss_bytes": plan["mss_bytes"],
        "flows": [_flow(job, node, flow, cca) for flow, cca in zip(measured, senders, strict=False)],
        "certificate": certificate,
        "applied": node["applied"],
        "probes": node["probes"],
        "counters": node["counters"],
        "capture": node["capture"],
        "changes": node["changes"],
        "kernel": node["kernel"],
        "backend": job.backend.kind,
        "engine": job.backend.engine,
        "shaper": experiment.shaper,
    }
    if job.backend.kind == "virtual":
        meta["sandbox"] = sandbox_mode.described()
    if "server_start_s" in node:
        meta["server_start_s"] = node["server_start_s"]
    if "machine" in node:
        meta["machine"] = node["machine"]
    return meta
