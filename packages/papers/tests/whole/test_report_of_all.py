# SPDX-License-Identifier: GPL-2.0-or-later
"""What the page of all scenarios is made of: a notebook's artefacts, the rules' scores, competing flows, memory."""

import csv
import json
from pathlib import Path

import polars as pl
import pytest
from lab_papers.evaluation.columns import TRIALS
from lab_papers.evaluation.competing_flows import SCHEMA, flows
from lab_papers.evaluation.kept import sign
from lab_papers.fullest import stored
from lab_papers.index import heuristics
from lab_papers.index.artefacts import Artefacts
from lab_papers.index.manifest import MANIFEST, Artefact, read_manifest
from lab_papers.index.notebook_tables import PUBLISHED_BYTES, competing_table, memory_table
from lab_papers.index.notebooks import Executed
from lab_papers.index.write import chapter
from matplotlib.figure import Figure

from bench.sample import TRIALS as KEPT
from bench.sample import keep
from lab.base.format import NONE
from lab.evaluation.shares import jain
from lab.figures.style import Drawing
from lab.report.table import Group, Row, Table
from lab.schema.cca import load_ccas
from lab.tables.columns import Column, Described
from lab.tables.digests import SUMS
from lab.tables.stored_run import Run
from tests.stored_run import change, rewrite, store_run, with_extent

TABLE = Table("losses", "What was lost.", ("From", "Lost"), (Group("CUBIC", (Row(("here", "=1+1")),)),), (), "Sender")
NUMBERS = Described("One row per number.", {"x": Column(pl.Float64, "a number", "")})


def drawing() -> Drawing:
    figure = Figure()
    figure.subplots().plot([1, 2])
    return Drawing(figure, "A line.", "a line that rises")


def test_what_a_notebook_hands_over_is_listed_with_its_files(tmp_path: Path) -> None:
    artefacts = Artefacts.into(str(tmp_path / "new" / "folder"))
    artefacts.figure("line", "figure 1", drawing())
    artefacts.table("table 2", TABLE)
    artefacts.data("numbers", "figure 3", pl.DataFrame({"x": [1 / 3]}), NUMBERS)
    artefacts.pending("later", "figure 4", "no run")
    artefacts.left_out("never", "figure 5", "a real satellite")
    folder = tmp_path / "new" / "folder"
    of_table = ("losses.csv", "losses.md", "losses.tex", "losses-column.tex")
    assert read_manifest(folder / MANIFEST) == [
        Artefact("line", "figure 1", "figure", ("line.svg", "line.pdf"), "A line.", "a line that rises"),
        Artefact("losses", "table 2", "table", of_table, table=TABLE),
        Artefact("numbers", "figure 3", "data", ("numbers.csv", "numbers.parquet")),
        Artefact("later", "figure 4", "pending", why="no run"),
        Artefact("never", "figure 5", "left out", why="a real satellite"),
    ]
    listed = {name for artefact in artefacts.listed for name in artefact.files}
    assert {path.name for path in folder.iterdir()} == {MANIFEST, *listed}
    assert list(csv.reader((folder / "losses.csv").open())) == [["Sender", "From", "Lost"], ["CUBIC", "here", "'=1+1"]]
    assert (folder / "numbers.csv").read_text() == "x\n0.333333\n"
    assert pl.read_parquet(folder / "numbers.parquet")["x"].to_list() == [1 / 3]


def test_without_a_folder_a_notebook_shows_and_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    artefacts = Artefacts.into(None)
    artefacts.figure("line", "figure 1", drawing())
    assert "What was lost." in artefacts.table("table 2", TABLE).data
    artefacts.data("numbers", "figure 3", pl.DataFrame({"x": [1]}), NUMBERS)
    assert artefacts.pending("later", "figure 4", "no run").data == "*Pending: figure 4: no run.*"
    assert artefacts.left_out("never", "figure 5", "sky").data == "*Left out: figure 5: sky.*"
    assert [artefact.name for artefact in artefacts.listed] == ["line", "losses", "numbers", "later", "never"]
    assert list(tmp_path.iterdir()) == []
    assert read_manifest(tmp_path / MANIFEST) == []


def test_a_figure_without_a_drawing_is_pending() -> None:
    artefacts = Artefacts.into(None)
    artefacts.figure("line", "figure 1", None)
    assert artefacts.listed == [Artefact("line", "figure 1", "pending", why="no stored trial has the data for it")]


def test_a_figure_names_the_runs_it_is_drawn_from_and_their_valid_trials(tmp_path: Path) -> None:
    store_run(tmp_path, trials=1, latest=True)
    (one,) = stored(tmp_path)[0]
    artefacts = Artefacts.into(None)
    artefacts.figure("line", "figure 1", drawing(), one)
    artefacts.figure("both", "figure 1", drawing(), one, one)
    from_geo = "A line. Link: recorded, published, assumed. From geo (3 valid trials)."  # the one of bbr is invalid
    assert artefacts.listed[0].caption == from_geo
    assert artefacts.listed[1].caption == "A line. From geo (3 valid trials), geo (3 valid trials)."


def test_a_chapter_shows_figures_inline_and_the_rest_as_files(tmp_path: Path) -> None:
    folder = tmp_path / "notebooks" / "01-losses"
    artefacts = Artefacts.into(str(folder))
    artefacts.figure("line", "figure 1", drawing())
    artefacts.table("table 2", TABLE)
    artefacts.pending("later", "figure 4", "no run")
    done = Executed("01-losses", "Losses", artefacts.listed, {"link": ["geo", "geo-small"]}, "it broke")
    made = chapter(tmp_path, done)
    assert (made["name"], made["title"], made["fault"]) == ("chapter-01-losses", "Losses", "it broke")
    assert made["needs"] == ["link: geo, else geo-small"]
    figure, table, later = made["parts"]
    assert figure["picture"].caption == "A line."
    assert "a line that rises" in figure["picture"].svg
    assert figure["files"] == [("SVG", "notebooks/01-losses/line.svg"), ("PDF", "notebooks/01-losses/line.pdf")]
    assert (table["picture"], table["table"], table["files"][0][0]) == (None, TABLE, "CSV")
    assert (later["kind"], later["why"], later["files"]) == ("pending", "no run", [])


def store_scores(results: Path, **tables: list[dict[str, object]]) -> None:
    (results / "evaluation").mkdir(parents=True)
    for name, rows in tables.items():
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(results / "evaluation" / f"{name}.parquet")
    sign(results / "evaluation")


def score(**changes: object) -> dict[str, object]:
    """A row of what the truth and one rule have in common."""
    row = {"scenario": "geo", "cca": "all", "rule": "latency_offset", "trials": 8, "found": 6, "agree_pct": 62.5}
    times = {"bias_s": 1.234, "bias_lo_s": 1.0, "bias_hi_s": 1.5, "spread_s": 0.256}
    classes = {"truly_timely": 5, "timely_called_early": 2, "truly_early": 3, "early_called_timely": 1}
    return row | times | classes | changes


def test_the_scores_of_a_rule_are_those_over_all_senders() -> None:
    rows = [score(), score(cca="search", trials=4), score(scenario="leo", bias_lo_s=None, bias_s=None, trials=0)]
    table = heuristics._scores(pl.DataFrame(rows), {"geo": "a satellite"})
    assert [group.label for group in table.groups] == ["a satellite", "leo"]
    (row,), (empty,) = (group.rows for group in table.groups)
    assert row.cells[1:] == ("8", "75", "1.23 [1.00 to 1.50]", "0.26", "62.5", "2 of 5", "1 of 3")
    assert empty.cells[1:4] == ("0", NONE, NONE)


def constant(published: bool, back_rtts: float, rms_s: float | None) -> dict[str, object]:
    row = {"scenario": "geo", "rule": "latency_offset", "published": published, "exceed_rtts": 2.0}
    return row | {
        "back_rtts": back_rtts,
        "rms_s": rms_s,
        "trials": 4,
        "found": 1,
        "bias_s": -0.5,
        "misjudged_pct": 12.34,
    }


def test_the_published_constants_come_first_and_then_the_three_best() -> None:
    grid = [constant(False, 0.1 * n, rms_s) for n, rms_s in enumerate([None, 5.0, 3.0, 4.0, 2.0])]
    table = heuristics._constants(pl.DataFrame([*grid, constant(True, 0.5, 9.0)]), {})
    (group,) = table.groups
    assert group.label == "geo: latency offset"
    assert [(row.cells[4], row.published) for row in group.rows] == [
        ("9.00", True),
        ("2.00", False),
        ("3.00", False),
        ("4.00", False),
    ]
    assert group.rows[0].cells == ("exceeds (RTTs) 2, back to (RTTs) 0.5", "4", "25", "-0.50", "9.00", "12.3")


def test_there_is_no_page_of_the_rules_before_they_are_scored(tmp_path: Path) -> None:
    assert not heuristics.write(tmp_path, {})
    assert not (tmp_path / heuristics.PAGE).exists()


def test_the_page_of_the_rules_has_the_scores_and_the_constants(tmp_path: Path) -> None:
    trial = dict.fromkeys(TRIALS) | {"scenario": "geo", "cca": "search", "trial": 1, "rule": "latency_offset"}
    store_scores(
        tmp_path,
        heuristics=[score()],
        heuristics_trials=[trial | {"rule_s": 2.0, "truth_s": 1.5, "difference_s": 0.5}],
        heuristics_constants=[constant(True, 0.5, 9.0)],
    )
    assert heuristics.write(tmp_path, {"geo": "a satellite"})
    page = (tmp_path / heuristics.PAGE).read_text()
    assert "1.23 [1.00 to 1.50]" in page
    assert "a satellite: latency offset" in page


def flow(number: int, trial: int, mbps: float, **changes: object) -> dict[str, object]:
    row = dict.fromkeys(SCHEMA) | {"scenario": "compete", "pairing": "a against b", "trial": trial, "flow": number}
    of_sender = {"cca": "ab"[number - 1], "throughput_mbps": mbps, "rtt_ms": 600.0, "retransmits_pkts": 12, "jain": 0.9}
    return row | of_sender | changes


def test_competing_flows_are_means_with_their_spread_over_trials() -> None:
    rows = [flow(1, 1, 2.0), flow(2, 1, 7.0), flow(1, 2, 4.0), flow(2, 2, 7.0)]
    others = [{**row, "scenario": name, "throughput_mbps": 99.0} for row in rows for name in ("race-wired", "later")]
    lists = [["pending", "compete", "later"], ["pending"]]
    table = competing_table(pl.DataFrame([*others, *rows], schema=SCHEMA), lists)
    (group,) = table.groups
    assert group.label == "a against b"
    assert group.rows[0].cells == ("1: a", "2", "3.0 (1.4)", "600 (0)", "12 (0)", "0.90 (0.00)")
    assert group.rows[1].cells[:3] == ("2: b", "2", "7.0 (0.0)")


def test_one_trial_has_no_spread() -> None:
    (group,) = competing_table(pl.DataFrame([flow(1, 1, 2.0)], schema=SCHEMA), [["compete"]]).groups
    assert group.rows[0].cells[1:3] == ("1", "2.0")


@pytest.mark.parametrize(
    ("rates", "index"), [([5, 5], 1.0), ([5, 0], 0.5), ([1, 3], 16 / 20), ([0, 0], None), ([2, 2, 2, 0], 0.75)]
)
def test_jains_index_is_1_where_all_get_alike_and_1_of_n_for_one_alone(rates: list[float], index: float | None) -> None:
    assert jain(rates) == pytest.approx(index)


def test_each_valid_trial_with_a_rival_has_a_row_per_flow_and_their_ratios(tmp_path: Path) -> None:
    run = store_run(tmp_path, trials=2, senders=("cubic", "bbr"), latest=True)
    assert flows(stored(tmp_path)[0][0]).is_empty()
    for file in run.glob("trials/*/trial.json"):
        meta = json.loads(file.read_text())
        rival = with_extent(meta["flows"][0], flow=2, cca="search", throughput_mbps=3.0, retransmits_pkts=0)
        first = with_extent(meta["flows"][0], throughput_mbps=6.0, retransmits_pkts=4, end_s=2.5)
        rewrite(file, meta | {"flows": [first, rival]})
    change(run, scenario={"rival": "search"})
    table = flows(stored(tmp_path)[0][0])
    assert table.select("pairing", "trial", "flow", "cca").rows() == [
        ("cubic against search", 1, 1, "cubic"),
        ("cubic against search", 1, 2, "search"),
        ("cubic against search", 2, 1, "cubic"),
        ("cubic against search", 2, 2, "search"),
        ("bbr against search", 1, 1, "bbr"),
        ("bbr against search", 1, 2, "search"),
    ]  # the second trial of bbr is invalid
    assert table["jain"].unique().to_list() == [pytest.approx(0.9)]
    assert table["throughput_ratio"].unique().to_list() == [0.5]
    assert table["retransmits_ratio"].unique().to_list() == [0.0]
    assert table["rtt_ratio"].null_count() == table.height  # the second flow has no ACK in these tables
    own = Run(run).trials[0].acks
    assert table["rtt_ms"][0] == pytest.approx(own["srtt_ms"].mean())
    ends_s = Run(run).trials[0].meta["flows"][0]["end_s"]
    assert ends_s < min(10, own["t_s"].to_numpy().max())
    una = own.filter(pl.col("t_s") <= ends_s)["snd_una_bytes"].to_list()
    assert table["startup_mbps"][0] == pytest.approx((max(una) - min(una)) * 8e-6 / ends_s)
    assert table["startup_mbps"][1] is None


def test_a_rival_that_had_no_time_has_no_rate_and_its_trial_no_fairness(tmp_path: Path) -> None:
    run = store_run(tmp_path, 1, senders=("cubic",), latest=True)
    file = run / "trials" / "cubic-001" / "trial.json"
    meta = json.loads(file.read_text())
    late = with_extent(meta["flows"][0], flow=2, data_s=meta["flows"][0]["end_s"], throughput_mbps=0.0)
    rewrite(file, meta | {"flows": [*meta["flows"], late]})
    change(run, scenario={"rival": "cubic"})
    table = flows(stored(tmp_path)[0][0])
    assert table.select("throughput_mbps", "jain", "throughput_ratio").row(1) == (None, None, None)


def test_memory_stands_next_to_the_published_value_and_is_a_dash_without_a_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    search2, plain = memory_table(["search2", "cubic_plain"]).groups
    assert search2.label == load_ccas()["search2"].label
    theirs, ours = search2.rows
    assert theirs == Row(("NetDev 0x18", str(PUBLISHED_BYTES["search2"]), NONE, NONE), published=True)
    assert ours.cells[:3] == ("here", NONE, "up to 104")
    assert [row.cells[3] for row in plain.rows] == [str(load_ccas()["cubic_plain"].allocates_bytes)]


def test_a_sample_keeps_the_first_trials_of_each_sender_and_not_where_the_lab_lay(tmp_path: Path) -> None:
    run = store_run(tmp_path / "results", trials=KEPT + 1, senders=("cubic", "search"))
    change(run, command=["/home/somebody/lab", "run", "geo"])
    (tmp_path / "sample" / "geo" / "older").mkdir(parents=True)
    kept = keep(Run(run), tmp_path / "sample")
    assert kept == tmp_path / "sample" / "geo" / run.name
    assert sorted(path.name for path in kept.parent.iterdir()) == [run.name, "latest"]
    assert (kept.parent / "latest").resolve() == kept.resolve()
    assert Run(kept).meta["command"] == ["lab", "run", "geo"]
    names = [f"{cca}-{number:03d}" for cca in ("cubic", "search") for number in range(1, KEPT + 1)]
    assert sorted(path.name for path in (kept / "trials").iterdir()) == names
    again, first = Run(kept).trials[0], Run(run).trials[0]
    assert (again.path / SUMS).exists()
    assert again.packets["t_s"].to_list() == pytest.approx(first.packets["t_s"].to_list(), abs=1e-6)  # as it is stored
    assert again.fault is None
