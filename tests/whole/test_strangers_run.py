# SPDX-License-Identifier: GPL-2.0-or-later
"""A stored run from a stranger: whatever its files are, it is read or refused at once, and written nowhere else."""

import json
import math
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from warnings import catch_warnings
from xml.etree import ElementTree

import polars as pl
import pytest
from matplotlib.figure import Figure

from lab.base.errors import UserError, field_error
from lab.figures import exit_times
from lab.figures.save import svg
from lab.judge.stored import Stored
from lab.report import figures
from lab.report.browser.pack import KEPT
from lab.report.write import write_report
from lab.tables.consistent import of_exits
from lab.tables.digests import MOST_BYTES, SUMS
from lab.tables.stored_run import Run
from tests.brief import folder_at, put
from tests.stored_run import change, sign
from tests.unit.test_digests import edit, lines, run

__all__ = ["run"]  # a fixture
TRIAL = Path("trials") / "search-001"
PUBLISHED = {"cca": "cubic", "source": "thesis, table 5.3"}
CLAIM = PUBLISHED | {"row": "CUBIC", "values": {"exit_s": 1.0}}
FILES = [TRIAL / SUMS, TRIAL / "trial.json", TRIAL / "packets.parquet", Path("run.json.sha256")]
NO_PLAIN = "must be a plain file, no folder, pipe or device"


def sparse(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(MOST_BYTES + 1)


def with_stanza(run: Path, **changes: str) -> None:
    """Change how a stored run's first sender looks; whoever edits a file can edit its digest."""
    first, *others = json.loads((run / "run.json").read_text())["ccas"]
    change(run, ccas=[first | changes, *others])


@pytest.mark.parametrize("file", FILES, ids=str)
@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (os.mkfifo, NO_PLAIN),
        (lambda file: file.symlink_to("/dev/zero"), NO_PLAIN),
        (Path.mkdir, NO_PLAIN),
        (sparse, "bytes="),
    ],
    ids=["pipe", "device", "folder", "sparse"],
)
def test_what_is_no_plain_file_of_bounded_size_is_refused_unread(
    run: Path, file: Path, make: Callable[[Path], None], rule: str
) -> None:
    (run / file).unlink()
    make(run / file)
    (line,) = lines(run)
    assert line.startswith(f"{run / file}: ")
    assert rule in line


def test_a_trial_that_is_a_link_is_missing(run: Path, tmp_path: Path) -> None:
    (run / TRIAL).rename(tmp_path / "elsewhere")
    (run / TRIAL).symlink_to(tmp_path / "elsewhere")
    assert lines(run) == [f"{run / TRIAL}: must be a folder, no link: --resume runs the trial again"]


def copied(folder: Path) -> None:
    shutil.copytree(folder, folder.with_name("search-002"))


@pytest.mark.parametrize(
    ("change_to", "rule"),
    [
        (copied, "search-002/trial.json: trial=1: must be that of its folder: this is search-001"),
        (lambda trial: change(trial.parents[1], seeds=[5]), "seed=369571992: must be 5, as in run.json"),
        (lambda trial: change(trial.parents[1], name="other"), "scenario=stored: must be other, as in run.json"),
    ],
    ids=["copy", "seed", "scenario"],
)
def test_a_trial_that_was_copied_counts_in_no_result(run: Path, change_to: Callable[[Path], None], rule: str) -> None:
    change_to(run / TRIAL)
    (line,) = lines(run)
    assert rule in line


def test_a_report_is_never_written_through_a_link(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "per_sender", lambda *_: [])  # those over all trials are enough to be drawn
    victim = put(tmp_path / "victim", "of the user")
    for name in (".report.html.part", "report.html", ".outcomes.parquet.part", f"{TRIAL}/.{KEPT}.part"):
        (run / name).symlink_to(victim)
    write_report(run)
    assert victim.read_text() == "of the user"
    assert (run / "report.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["figures", "tables", "trials"])
def test_nothing_is_written_into_a_linked_folder(run: Path, tmp_path: Path, name: str) -> None:
    elsewhere = folder_at(tmp_path / "elsewhere")
    shutil.copytree(run / "trials", elsewhere, dirs_exist_ok=True)
    before = {file: file.stat().st_mtime_ns for file in elsewhere.rglob("*")}
    shutil.rmtree(run / name, ignore_errors=True)
    (run / name).symlink_to(elsewhere)
    with pytest.raises(UserError, match=f"{name}: must be a folder, no link"):
        write_report(run)
    assert {file: file.stat().st_mtime_ns for file in elsewhere.rglob("*")} == before


def test_a_run_without_a_trial_is_drawn_without_a_word_of_a_library(run: Path) -> None:
    shutil.rmtree(run / "trials")
    with catch_warnings(action="error"):
        assert exit_times.draw(Stored.of(Run(run))).figure


def faults(run: Path) -> list[str]:
    """Return the lines that refuse a run, or a table of its trial."""
    try:
        write_report(run)
    except UserError as refused:
        return [str(refused)]
    return Run(run).faults


@pytest.mark.parametrize("text", ["\ud800", "a\ud83d b"])
def test_half_a_character_is_refused_as_it_could_not_be_written(run: Path, text: str) -> None:
    change(run, scenario={"question": text})
    assert faults(run) == [f"{run}/run.json: must be whole JSON"]


@pytest.mark.parametrize(
    ("part", "changes", "rule"),
    [
        ("name", "../../out", "name=../../out: must be 1 to 100 letters"),  # lab merge makes a folder of it
        ("scenario", {"trials": 10**9}, "scenario.trials=1000000000: must be less than or equal to 100000"),
        ("scenario", {"rivals": [{"cca": "cubic"}]}, "scenario.rivals.0.count="),
        (
            "scenario",
            {"rivals": [{"cca": "bbr", "count": 10**9}]},
            "count=1000000000: must be less than or equal to 64",
        ),
        ("scenario", {"workload": {"model": "web"}}, "trial.json: workload=: must be given, as the scenario has one"),
        ("scenario", {"published": [PUBLISHED | {"exit_s": "soon"}]}, "scenario.published.0.exit_s=soon: must be "),
        ("scenario", {"published": [{"cca": "cubic"}]}, "scenario.published.0.source="),
        ("scenario", {"tolerance": {"share_points": "10", "relative_pct": 5}}, "share_points=10: must be "),
        ("scenario", {"claims": [CLAIM | {"values": {"exit_s": [1.0]}}]}, "scenario.claims.0.values.exit_s."),
        ("scenario", {"claims": [CLAIM | {"source": "thesis"}]}, "scenario.claims.0.source=thesis: must be a document"),
        ("profile", {"recorded": 5}, "profile.recorded=5: must be a list"),
        ("profile", {"down": "fast"}, "profile.down=fast: must be a mapping"),
        ("scenario", {"ccas": ["../search"]}, "scenario.ccas.0=../search: must be 1 to 100 letters"),
        ("ccas", [], "/run.json: ccas=[]: must "),
    ],
)
def test_what_a_report_needs_of_a_scenario_is_required(run: Path, part: str, changes: object, rule: str) -> None:
    change(run, **{part: changes})
    (line,) = faults(run)
    assert rule in line


def test_the_name_of_a_sender_leads_to_no_other_folder(run: Path, tmp_path: Path) -> None:
    """A figure's file has the sender's name, and a run may bring a folder for the first half of it."""
    name = f"../../../..{tmp_path}/out"
    (run / "figures" / "delivered_bytes-..").mkdir(parents=True)
    with_stanza(run, name=name)
    change(run, scenario={"ccas": [name]})
    edit(run / TRIAL / "trial.json", lambda meta: meta.update(cca=name), signed=True)
    (line,) = faults(run)
    assert f"={name}: must be 1 to 100 letters" in line
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"rate_mbps": 0}, "rate_mbps=0: must be more than 0"),
        ({"mss_bytes": 0}, "mss_bytes=0: must be more than 0"),
        ({"throughput_mbps": -8}, "flows[0].throughput_mbps=-8: must be 0 or more"),
        ({"retransmits_pkts": -1}, "flows[0].retransmits_pkts=-1: must be 0 or more"),
        ({"trial": 2**63}, "trial=9223372036854775808: must be a number below 2^63"),
        ({"throughput_mbps": 1e9}, "flows[0].throughput_mbps=1000000000.0: must be "),
        ({"bytes": 10**15}, "flows[0].throughput_mbps="),
        ({"bytes": 10**15, "throughput_mbps": 4e9}, "flows[0].bytes=1000000000000000: must be at most "),
        ({"data_s": -1.0}, "flows[0].data_s=-1.0: must be 0 or more"),
        ({"seconds": 1}, "flows[0].seconds=1: must be "),
        ({"data_s": 1.0, "end_s": 1.0, "seconds": 1e-320}, "flows[0].throughput_mbps="),
        ({"duration_s": 1}, "flows[0].seconds=2.0: must be at most 1, the trial's duration_s"),
        ({"threshold_pct": "35 %"}, "flows.parameters.threshold_pct=35 %: must be a whole number of 1 to 5 digits"),
    ],
)
def test_a_trial_of_numbers_that_cannot_be_is_refused(run: Path, changes: dict[str, object], rule: str) -> None:
    def edited(meta: dict[str, Any]) -> None:
        flow = meta["flows"][0]
        next(part for part in (meta, flow, flow["parameters"]) if part.keys() & changes).update(changes)

    edit(run / TRIAL / "trial.json", edited, signed=True)
    (line,) = faults(run)
    assert f"trial.json: {rule}" in line


NOT_BELOW = "t_s=nan: must be numbers below 100000"


@pytest.mark.parametrize(
    ("table", "other", "rule"),
    [
        ("acks", pl.all().exclude("srtt_ms"), "srtt_ms=: must be a column of numbers"),
        ("packets", pl.all().cast(pl.String), "t_s=String: must be a column of numbers"),
        ("acks", pl.when(pl.int_range(pl.len()) == 1).then(math.nan).otherwise("t_s").alias("t_s"), NOT_BELOW),
        ("bins", pl.col(pl.Float64) * 1e300, "must be numbers below 100000"),
        ("link", pl.all().head(1), "quantity=: must be given: down.delay_ms"),
        ("qdisc", pl.all().implode(), "t_s=List(Float64): must be a column of numbers"),
        ("packets", pl.all().reverse(), "t_s=: must be in the order of time"),
        ("acks", pl.all().shuffle(seed=1), "t_s=: must be in the order of time"),
        ("acks", pl.when(pl.int_range(pl.len()) > 1).then(pl.all()), "t_s=None: must be given in each row"),
        ("qdisc", pl.all().replace(0, None), "backlog_bytes=None: must be given in each row"),
        ("acks", pl.all().head(0), "rows=0: must be 1 or more"),
        ("acks", pl.all().cast(pl.Float64), "flow=Float64: must be a column of whole numbers"),
    ],
)
def test_a_table_that_lacks_what_it_is_read_for_is_refused(run: Path, table: str, other: pl.Expr, rule: str) -> None:
    file = run / TRIAL / f"{table}.parquet"
    pl.read_parquet(file).select(other).write_parquet(file)
    sign(file)
    (line,) = faults(run)
    assert line.startswith(f"{file}: ")
    assert rule in line


@pytest.mark.parametrize("left_s", [-3.0, 4.0])
def test_an_exit_that_is_not_within_its_download_is_refused(run: Path, left_s: float) -> None:
    file = run / TRIAL / "exits.parquet"
    row = {"t_s": left_s, "flow": 1, "cwnd_pkts": 10, "ssthresh_pkts": 10, "rtt_ms": 600.0, "cause": "search"}
    pl.DataFrame([row]).write_parquet(file)
    sign(file)
    assert faults(run) == [f"{file}: t_s={left_s}: must be from 0 to 3.28772, when its download ended"]


def test_a_rival_may_leave_slow_start_before_the_download_under_test_begins() -> None:
    flows: Any = [{"flow": 1, "end_s": 3.0}, {"flow": 2, "end_s": 3.0}]
    left = pl.DataFrame({"t_s": [-0.02, 1.0, 3.5], "flow": [2, 1, 2]})
    assert [t_s for _, t_s, _ in of_exits(left, flows)] == [3.5]


def test_a_figure_in_svg_is_whole_whatever_it_is_about() -> None:
    assert ElementTree.fromstring(svg(Figure(), "a\x1b[2Jb"))  # noqa: S314


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("label", "$\\frac$"),
        ("label", "\\input{x}"),
        ("label", "a\x1b[2J"),
        ("colour", "reddish"),
        ("colour", "#12"),
        ("marker", "$\\frac$"),
        ("marker", "ox"),
        ("linestyle", "wavy"),
    ],
)
def test_a_look_that_is_none_is_refused_as_every_other_field(run: Path, field: str, value: str) -> None:
    with_stanza(run, **{field: value})
    (line,) = lines(run)
    assert line.startswith(str(field_error(f"{run}/run.json", f"ccas.0.{field}", value, "")))
