# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial is stored whole or not at all: run on a backend that gives the records of a real trial again."""

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import polars.selectors as cs
import pytest

from lab.backends.records import TrialError
from lab.base.errors import UserError
from lab.node.plan import Plan, Shape
from lab.runs import pool
from lab.runs.experiment import load_experiment
from lab.runs.trial import STORED, Job, _add_files, run_trial
from lab.tables.digests import SUMS, write_digests
from lab.tables.kernel_log import read_log
from lab.tables.link import read_link
from lab.tables.stored_trial import TABLES, Trial
from tests.approved import approved, json_in_six_digits
from tests.brief import folder_at
from tests.conftest import SMALL, experiment_on

DRAFT = Path(__file__).parents[1] / "data" / "draft"
PLAN: Plan = json.loads((DRAFT / "plan.json").read_text())
NODE = json.loads((DRAFT / "node.json").read_text())


@dataclass(frozen=True)
class Recorded:
    """A backend of which every trial is the recorded one."""

    node: str = (DRAFT / "node.json").read_text()
    kind: str = "virtual"
    engine: str = "netns"
    required_files: tuple[Path, ...] = ()

    def adapt(self, _plan: Plan, *_: object) -> Plan:
        return PLAN

    def run_plan(self, plan: Plan, folder: Path) -> None:
        (folder / "plan.json").write_text(json.dumps(plan))
        for name in ("client.pcapng", "trace.raw", "kernel.log"):
            shutil.copy(DRAFT / name, folder)
        shutil.copytree(DRAFT / "formats", folder / "formats")
        (folder / "node.json").write_text(self.node)


def job(folder: Path, backend: Recorded | None = None) -> Job:
    experiment = experiment_on(SMALL, "cubic", trials=5)
    return Job(experiment, "cubic", 3, folder / "trials" / "cubic-003", backend or Recorded())  # type: ignore[arg-type]


def test_a_trial_has_its_tables_capture_and_digests_and_without_the_capture_the_same(tmp_path: Path) -> None:
    meta = run_trial(job(tmp_path))
    folder = tmp_path / "trials" / "cubic-003"
    assert {path.name for path in folder.iterdir()} == {*STORED, "client.pcapng.zst", SUMS}
    assert [path.name for path in folder.parent.iterdir()] == ["cubic-003"]
    assert json.loads((folder / "trial.json").read_text()) == meta
    assert Trial(folder).is_whole
    assert Trial(folder).packets.height > 100
    run_trial(job(tmp_path / "with"))
    run_trial(replace(job(tmp_path / "without"), keep_capture=False))
    with_it, without = (Trial(tmp_path / name / "trials" / "cubic-003") for name in ("with", "without"))
    assert {path.name for path in without.path.iterdir()} == {*STORED, SUMS}
    assert without.packets.equals(with_it.packets)


ALIVE = "Attempt to release alive inet socket 000000008e85489f"  # of net/ipv4/af_inet.c: it was freed in mid-flow


@pytest.mark.parametrize(("line", "failed"), [(ALIVE, ["kernel log"]), ("mine: entered slow start", [])])
def test_a_trial_whose_kernel_complains_is_invalid(tmp_path: Path, line: str, failed: list[str]) -> None:
    @dataclass(frozen=True)
    class Printed(Recorded):
        def run_plan(self, plan: Plan, folder: Path) -> None:
            super().run_plan(plan, folder)
            (folder / "kernel.log").write_text(f"BUG: before it\nRun /usr/bin/python3 as init process\n{line}\n")

    certificate = run_trial(job(tmp_path, Printed()))["certificate"]
    assert [check["name"] for check in certificate["checks"] if not check["ok"]] == failed
    assert certificate["valid"] == (not failed)


def test_its_json_has_what_was_requested_and_reported_and_its_log_begins_with_init(tmp_path: Path) -> None:
    meta = run_trial(job(tmp_path))
    assert (meta["cca"], meta["trial"], meta["scenario"], meta["profile"]) == ("cubic", 3, "test", "test")
    assert (meta["seed"], meta["mss_bytes"], meta["duration_s"]) == (PLAN["seed"], PLAN["mss_bytes"], 4)
    assert {name: meta[name] for name in PLAN["link"]} == PLAN["link"]  # type: ignore[literal-required]
    assert [(flow["flow"], flow["cca"]) for flow in meta["flows"]] == [(1, "cubic")]
    for name in ("applied", "probes", "counters", "capture", "changes", "kernel"):
        assert meta[name] == NODE[name]
    assert (meta["backend"], meta["engine"], "machine" in meta) == ("virtual", "netns", False)
    run_trial(job(tmp_path))
    assert read_log(tmp_path, "cubic-003") == "Run /usr/bin/python3 as init process\ncubic: a line of the kernel\n"


def test_what_is_stored_of_a_trial_is_as_approved(tmp_path: Path) -> None:
    meta = {**run_trial(job(tmp_path))}
    for known in ("certificate", "counters", "applied", "probes", "sandbox"):  # in another text, or of the machine
        meta.pop(known)
    trial = Trial(tmp_path / "trials" / "cubic-003")
    rows = [f"{name}: {json_in_six_digits(value)[:500]}" for name, value in meta.items()]
    for name in TABLES:
        table = trial.link.table if name == "link" else getattr(trial, name)
        numbers = table.select(cs.numeric().sum().round_sig_figs(6)).to_dicts()
        rows += [f"{name}: {table.height} rows, the sums of columns: {numbers}", f"{name}: {dict(table.schema)}"]
    text = "\n".join(rows) + "\n"
    assert text == approved("trial.txt", text)


def test_a_real_machine_is_described(tmp_path: Path) -> None:
    machine = {"processors": 2, "seconds": [], "wake_ups": 0, "late_us": {"p50": None, "p99": None, "max": None}}
    meta = run_trial(job(tmp_path, Recorded(json.dumps(NODE | {"machine": machine}), kind="host")))
    assert (meta["machine"], meta["backend"]) == (machine, "host")


def test_the_same_trial_again_replaces_no_whole_one_but_a_damaged_one_by_the_same_bytes(tmp_path: Path) -> None:
    run_trial(job(tmp_path))
    folder = tmp_path / "trials" / "cubic-003"
    before, written_ns = (folder / SUMS).read_bytes(), (folder / SUMS).stat().st_mtime_ns
    run_trial(job(tmp_path))  # a worker that was thought to be lost
    assert ((folder / SUMS).read_bytes(), (folder / SUMS).stat().st_mtime_ns) == (before, written_ns)
    assert [path.name for path in folder.parent.iterdir()] == ["cubic-003"]
    (folder / "acks.parquet").write_bytes(b"damaged")
    run_trial(job(tmp_path))
    assert Trial(folder).is_whole
    assert (folder / SUMS).read_bytes() == before


def test_a_whole_trial_of_another_run_is_replaced(tmp_path: Path) -> None:
    run_trial(job(tmp_path))
    folder = tmp_path / "trials" / "cubic-003"
    before, file = (folder / SUMS).read_bytes(), folder / "trial.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"duration_s": 90}))
    (folder / SUMS).unlink()
    write_digests(folder)
    assert Trial(folder).is_whole
    run_trial(job(tmp_path))
    assert (folder / SUMS).read_bytes() == before


def test_a_trial_whose_records_break_their_contract_or_have_no_data_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"node.json: start_ns=soon: must be a whole number"):
        run_trial(job(tmp_path, Recorded(json.dumps(NODE | {"start_ns": "soon"}))))
    assert list((tmp_path / "trials").iterdir()) == []
    empty = [download | {"iperf3": {"error": "unable to connect"}} for download in NODE["downloads"]]
    result = pool.attempt(job(tmp_path, Recorded(json.dumps(NODE | {"downloads": empty}))))
    assert isinstance(result, str)
    assert "\n" not in result
    assert list((tmp_path / "trials").iterdir()) == []


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (TrialError("no kernel"), "no kernel"),
        (UserError("file: a=1: must be 2"), "file: a=1: must be 2"),
        (OSError(28, "No space left on device", "/some/file"), "/some/file: No space left on device"),
        (OSError(28, "No space left on device"), "{folder}: No space left on device"),
        (pl.exceptions.ComputeError("cannot write\nmore"), "{folder}: cannot write"),
    ],
)
def test_what_fails_a_trial_is_its_result_in_one_line(tmp_path: Path, error: Exception, line: str) -> None:
    one = job(tmp_path)

    def work(_: Job) -> None:
        raise error

    assert pool.line_if_failed(work, one) == line.format(folder=one.folder)  # type: ignore[arg-type]


def shape(part: str, spec: dict[str, object], steps: str | None = None) -> Shape:
    return {"part": part, "node": "gateway", "dev": "eth2", "spec": spec, "steps": steps}


def test_the_link_is_what_was_applied_in_the_units_of_its_quantities(tmp_path: Path) -> None:
    applied = [
        shape("bottleneck", {"kind": "tbf", "rate_bps": 20_000_000}),
        shape("delay-up", {"kind": "netem", "delay_us": 50_000, "loss_pct": 0.5}),
        shape("bottleneck-up", {"kind": "on_demand"}),
        shape("elsewhere", {"kind": "tbf", "rate_bps": 1}),
    ]
    rows = [("down.rate_mbps", -0.25, 20.0), ("up.delay_ms", -0.25, 50.0), ("up.loss_pct", -0.25, 0.5)]
    assert read_link(tmp_path, applied, -0.25).rows() == rows


@pytest.mark.parametrize(
    ("part", "mode", "steps", "found"),
    [
        (
            "bottleneck",
            "rate",
            "0\t2000000\n1500000\t500000\n",
            {"down.rate_mbps": [(0.999999, 5.0), (1.0, 2.0), (2.5, 0.5)]},
        ),
        (
            "bottleneck-up",
            "opportunities",
            "0\t0\n250000\t1514\n",
            {"up.opportunity_bytes": [(1.0, 0.0), (1.25, 1514.0)]},
        ),
        (
            "delay-down",
            None,
            "0\t30000\t0.5\n2000000\t40000\t0\n",
            {"down.delay_ms": [(1.0, 30.0), (3.0, 40.0)], "down.loss_pct": [(1.0, 0.5), (3.0, 0.0)]},
        ),
    ],
)
def test_steps_hold_from_their_time_on_and_the_end_of_a_series_is_none(
    tmp_path: Path, part: str, mode: str | None, steps: str, found: dict[str, list[tuple[float, float]]]
) -> None:
    (folder := tmp_path / "results [1]*").mkdir()  # no pattern: another file, or none, would be the link
    (folder / "steps.tsv").write_text(f"{steps}3000000\tend\n")
    spec = {"kind": "replay"} | ({"mode": mode, "start_bps": 5_000_000} if mode else {})
    rows = [(quantity, *each) for quantity, of in found.items() for each in of]
    assert read_link(folder, [shape(part, spec, "steps.tsv")], 1.0).rows() == rows


def test_the_modules_of_both_senders_of_a_trial_are_copied_next_to_its_plan(tmp_path: Path) -> None:
    experiment = load_experiment("compete-cubic")
    own_ = {"module": "tcp_mine", "module_digest": "d"}
    modules = {"d": tmp_path / "built.ko"}
    modules["d"].write_text("a module")
    name = next(iter(experiment.ccas))
    changed = replace(
        experiment,
        ccas={name: experiment.ccas[name].model_copy(update=own_)},
        rivals={"cubic": experiment.rivals["cubic"].model_copy(update={"module": "tcp_theirs", "module_digest": "d"})},
    )
    backend: Any = SimpleNamespace(own_modules=modules)
    folder = folder_at(tmp_path / "trial")
    _add_files(Job(changed, name, 1, folder, backend), folder)
    copied = sorted(path for path in folder.rglob("*") if path.is_file())
    assert [path.read_text() for path in copied] == ["a module"] * 2
    assert ["tcp_mine" in str(copied[0]), "tcp_theirs" in str(copied[1])] == [True, True]
