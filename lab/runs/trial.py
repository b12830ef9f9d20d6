# SPDX-License-Identifier: GPL-2.0-or-later
"""One trial: planned, run, decoded, certified, stored. A folder of it appears only when all of that is done."""

import json
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.backends.backend import Backend
from lab.backends.records import TrialError
from lab.base import sandbox_mode
from lab.links.shapes import write_steps
from lab.node.plan import Plan
from lab.node.record import NodeRecord
from lab.runs.certificate import certify
from lab.runs.experiment import Experiment
from lab.runs.plan import draw, make_plan
from lab.schema.cca import Cca
from lab.senders.records import RawTrial
from lab.senders.traced import CAPTURED, SNAPLEN_BYTES
from lab.senders.ways import way_of
from lab.tables import downloads, workload
from lab.tables.digests import write_digests
from lab.tables.header_capture import keep_headers
from lab.tables.kernel_log import STORED as LOG
from lab.tables.kernel_log import forget_failed_log, keep_failed_log, keep_log, raw_log
from lab.tables.link_capacity import LinkCapacity
from lab.tables.node_json import read_node
from lab.tables.pieces import collected
from lab.tables.stored_run import OF_ITS_RUN
from lab.tables.stored_trial import FORMAT, Trial
from lab.tables.trial_json import Certificate, Download, FlowJson, TrialJson
from lab.tables.trial_tables import TRIAL_TABLES, write_tables

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
    draft.chmod(draft.stat().st_mode | 0o111)  # whatever the umask: dumpcap enters it without root's rights
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
    if folder.exists() and not _holds(folder, draft):
        shutil.rmtree(folder)  # of a disk that was full, of another run, or worse
    try:
        draft.replace(folder)
    except OSError:
        if not _holds(folder, draft):
            raise


def _holds(folder: Path, draft: Path) -> bool:
    """Return whether a folder has the trial of a draft, whole."""
    return Trial(folder).is_whole and _identity(Trial(folder)) == _identity(Trial(draft))


def _identity(trial: Trial) -> list[object]:
    senders = [flow["cca"] for flow in trial.meta["flows"]]
    return [trial.number, senders, "workload" in trial.meta, *(trial.meta[name] for name in OF_ITS_RUN)]


def prepare(job: Job, folder: Path) -> Plan:
    """Draw a trial's link, write its steps into the trial's folder, and return its plan."""
    drawn = draw(job.experiment, job.number)
    write_steps(job.experiment.profile, drawn.link, folder / "link")
    _add_files(job, folder)
    plan = make_plan(job.experiment, job.experiment.ccas[job.cca], drawn)
    return job.backend.adapt(plan, folder, job.experiment.topology)


def _add_files(job: Job, folder: Path) -> None:
    """Copy what the senders need and the kernel lacks into a trial's folder."""
    for cca in (job.experiment.ccas[job.cca], *job.experiment.rivals.values()):
        for name, file in way_of(cca).files(cca, job.backend).items():
            place = folder / name
            place.parent.mkdir(exist_ok=True)
            shutil.copy(file, place)


def store(job: Job, plan: Plan, folder: Path) -> TrialJson:
    """Decode the raw records of a folder into tables and trial.json, and remove all else."""
    node = read_node(folder / "node.json", plan)
    senders = [flow.cca for flow in job.experiment.flows(job.experiment.ccas[job.cca])]
    decoded = way_of(senders[0]).decode(RawTrial(folder, plan, node, senders))
    measured = [decoded.counted(each) for each in downloads.measure(plan, node, decoded.tables)]
    if error := downloads.failure(plan, node, measured):
        raise TrialError(error)
    tables = downloads.cut(decoded.tables, measured)
    write_tables(tables, folder)
    flows = [_flow(node, flow, cca) for flow, cca in zip(measured, senders, strict=True)]
    meta = _meta(job, plan, node, flows, certify(plan, node, tables, decoded.checks(tables), raw_log(folder)))
    link, download = LinkCapacity(collected(tables["link"])), flows[0]
    if link.changes and download["seconds"]:
        meta["rate_mbps"] = link.rate_mbps(download["data_s"], download["end_s"]) or meta["rate_mbps"]
    if "workload" in plan["flows"][0]:
        meta["workload"] = workload.read(folder, plan, node, measured[0])
    (folder / "trial.json").write_text(json.dumps(meta, indent=1))
    stored = {*STORED}
    keep_log(folder)
    if job.keep_capture:
        keep_headers(folder / CAPTURED, folder / f"{CAPTURED}.zst", SNAPLEN_BYTES)
        stored |= {f"{CAPTURED}.zst", *decoded.keep()}
    for path in list(folder.iterdir()):
        if path.name not in stored:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return meta


def _flow(node: NodeRecord, measured: Download, cca: Cca) -> FlowJson:
    """Return a download with its sender, and the parameters that the sender's module had."""
    return {**measured, "cca": cca.name, "parameters": node["modules"].get(cca.module or "", {})}


def _meta(job: Job, plan: Plan, node: NodeRecord, flows: list[FlowJson], certificate: Certificate) -> TrialJson:
    experiment = job.experiment
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
        "flows": flows,
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
