# SPDX-License-Identifier: GPL-2.0-or-later
"""The first screen: each of its numbers against the stored tables, the runs that it shows, and what it warns of."""

import json
import os
import re
import shutil
from decimal import ROUND_HALF_UP, Decimal
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from lab_compare.matrix.matrix import kind_of
from lab_papers.campaign import outdated, progress
from lab_papers.evaluation.status import _note, status
from lab_papers.fullest import DECISIVE, fullest, stored
from lab_papers.index.links import browsed_runs, linked
from lab_papers.index.sentences import in_order, sentences
from lab_papers.index.summary import in_summary

from lab.base.format import share
from lab.judge.stored import Stored
from lab.report.table import tables
from lab.schema.scenario import load_scenario
from lab.tables.stored_run import Run
from tests.first_screen import LINKS, PUBLISHED_PCT, SENDERS, example
from tests.stored_run import change, rewrite, store_run


class Cells(HTMLParser):
    """Reads the sentences of a page's matrix, cell by cell: what the page says aloud, and where a click leads."""

    def __init__(self) -> None:
        super().__init__()
        self.spoken: list[tuple[str, str, str]] = []  # measure, page, sentence
        self.page, self.measure, self.reads = "", "", False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        classes = (given.get("class") or "").split()
        self.page = (given.get("href") or "") if tag == "a" else self.page
        self.measure = (given.get("data-of") or "") if "reading" in classes else self.measure
        self.reads = "spoken" in classes

    def handle_data(self, text: str) -> None:
        if self.reads and self.measure:
            self.spoken.append((self.measure, self.page, text))

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the name is the base class's
        self.reads = False


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return example(tmp_path_factory.mktemp("results"), chapter="")  # nothing here reads one: see tests/whole


@pytest.fixture
def results(tmp_path: Path) -> Path:
    store_run(tmp_path, trials=2, name="geo", senders=("search", "cubic"), latest=True)
    return tmp_path


def valid_trials(results: Path, folder: str, cca: str, heuristic: str) -> pl.DataFrame:
    """The stored rows of one sender and rule, read without the lab."""
    table = pl.read_parquet(results / folder / "outcomes.parquet")
    return table.filter("valid", cca=cca, heuristic=heuristic)


def test_every_number_of_the_matrix_is_that_of_the_stored_tables(page: Path) -> None:
    parser = Cells()
    parser.feed(page.read_text())
    labels = {"SEARCH 2.0 + fixes": "search", "CUBIC with HyStart": "cubic"}
    labels |= {"CUBIC without HyStart": "cubic_plain", "BBR v1": "bbr"}
    for name in ("chokepoint", "rule", "throughput", "retransmits"):
        assert [measure for measure, _, _ in parser.spoken].count(name) == len(LINKS) * len(SENDERS)
    for measure, target, sentence in parser.spoken:
        cca = labels[sentence.split(",")[0]]
        rule = "latency_offset" if measure == "rule" else "truth"
        rows = valid_trials(page.parent, str(Path(target).parent), cca, rule)
        if measure in ("chokepoint", "rule"):
            classes = rows["exit_class"].drop_nulls()
            expected = f": {(classes == 'chokepoint').sum()} of {classes.len()}"
            assert expected in sentence
        elif measure in ("throughput", "retransmits"):
            column, digits, unit = {
                "throughput": ("throughput_mbps", 1, "Mb/s"),
                "retransmits": ("retransmits_pkts", 0, "packets"),
            }[measure]
            mean = Decimal(float(rows[column].to_numpy().mean()))
            rounded = mean.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
            assert f": {rounded:,} {unit}" in sentence


def test_the_published_share_stands_in_the_cell_with_the_version_that_the_paper_ran(page: Path) -> None:
    text = page.read_text()
    for search_pct, hystart_pct in PUBLISHED_PCT.values():
        assert f"thesis, table 5.3 (SEARCH 2.0): {search_pct:.3g} %" in text
        assert f"thesis, table 5.3: {hystart_pct:.3g} %" in text


def test_a_sentence_has_the_counts_of_the_stored_tables_and_the_furthest_comes_first(page: Path) -> None:
    runs, _, _ = fullest(page.parent)
    of_kinds = sentences(linked(in_summary(runs), str))
    apart = [each.apart or 0 for each in of_kinds]
    assert apart == sorted(apart, reverse=True)
    for each in of_kinds:
        profile = next(name for name in LINKS if kind_of(name) == each.kind)
        folder = f"example-{profile}/latest"
        ((who, hits, judged),) = re.findall(r"^(.+) leaves at the right moment in (\d+) of (\d+)", each.found)
        cca = {"SEARCH 2.0 + fixes": "search", "CUBIC with HyStart": "cubic", "BBR v1": "bbr"}[who]
        classes = valid_trials(page.parent, folder, cca, "truth")["exit_class"].drop_nulls()
        assert ((classes == "chokepoint").sum(), classes.len()) == (int(hits), int(judged))


def test_the_line_above_counts_the_stored_trials(page: Path) -> None:
    files = list(page.parent.glob("*/2*/trials/*/trial.json"))
    valid = sum(json.loads(file.read_text())["certificate"]["valid"] for file in files)
    assert f"{valid} of {len(files)} trials are valid" in page.read_text()


def test_rows_stand_in_the_order_of_the_sentences(page: Path) -> None:
    whole = in_order(linked(in_summary(fullest(page.parent)[0]), str))
    assert [row.kind for row in whole.rows] == [each.kind for each in sentences(whole)]


def newer_run(results: Path, trials: int, senders: tuple[str, ...] = ("search", "cubic")) -> Path:
    """Store a newer run of the scenario, with so many trials of each sender, and make it the latest."""
    made = store_run(results / "made", trials, name="geo", senders=senders)
    shutil.move(made, results / "geo" / "20260102T000000Z")
    shutil.rmtree(results / "made")
    (results / "geo" / "latest").unlink()
    (results / "geo" / "latest").symlink_to("20260102T000000Z")
    return results / "geo" / "20260102T000000Z"


def test_a_smaller_run_does_not_replace_a_fuller_one_and_is_named(results: Path) -> None:
    newer_run(results, 1)
    (shown,), faults, newer = fullest(results)
    assert shown.run.path.name == "20260101T000000Z"
    assert not faults
    assert newer == [
        "geo: its latest run, 20260102T000000Z, has fewer valid trials (2) than the run of 20260101T000000Z shown here "
        "(4)"
    ]


def test_a_newer_run_with_another_duration_does_not_replace_one_of_the_scenario(tmp_path: Path) -> None:
    scenario = load_scenario("geo")[1].model_dump()
    older = store_run(tmp_path, 2, name="geo", senders=tuple(scenario["ccas"]), latest=True)
    decisive = {field: scenario[field] for field in DECISIVE}
    change(older, scenario=decisive)
    change(newer_run(tmp_path, 3, tuple(scenario["ccas"])), scenario=decisive | {"duration_s": 5})
    (shown,), _, newer = fullest(tmp_path)
    assert shown.run.path == older
    assert newer == [
        "geo: its latest run, 20260102T000000Z, has another link, duration, seed or senders than the run of "
        "20260101T000000Z shown here"
    ]


def test_claims_and_status_are_of_the_run_that_is_shown(results: Path) -> None:
    newer_run(results, 1)
    (shown,), _, _ = fullest(results)
    assert [each.run.path for each in stored(results)[0]] == [shown.run.path]
    assert status(results).filter(pl.col("scenario") == "geo")["run"].item() == "geo/20260101T000000Z"


def test_a_complete_run_that_no_link_names_is_a_line_and_one_under_way_is_none(results: Path) -> None:
    link = results / "geo" / "latest"
    run = link.resolve()
    link.unlink()
    assert fullest(results)[:2] == ([], [f"{link}: must be a link to the newest run: ln -sfn {run.name} {link}"])
    change(run, complete=False)
    assert fullest(results)[:2] == ([], [])


def test_a_newer_run_of_as_many_trials_replaces_the_older(results: Path) -> None:
    newer_run(results, 2)
    (shown,), _, newer = fullest(results)
    assert (shown.run.path.name, newer) == ("20260102T000000Z", [])


def test_a_download_that_may_end_within_slow_start_stands_only_where_no_other_run_does(results: Path) -> None:
    other = store_run(results, trials=3, name="sized", senders=("search", "cubic"))
    change(other, scenario={"size_bytes": 1000})
    (other.parent / "latest").symlink_to(other.name)
    (row,) = linked(in_summary(fullest(results)[0]), lambda stored: stored.name).rows
    assert row.page == "geo"


def test_what_is_partial_says_so(results: Path) -> None:
    runs, _, _ = fullest(results)
    assert progress(runs, {"geo": 10, "leo": 30}) == (
        "Partial: 4 of 40 trials of the papers' scenarios are stored, of 1 of 2 scenarios"
    )
    assert progress(runs, {"geo": 4}) == "All 4 trials of the papers' 1 scenarios are stored"
    assert progress(runs, {"leo": 30}) == "0 of 30 trials of the papers' scenarios are stored"
    meta = json.loads((results / "geo" / "latest" / "run.json").read_text())
    rewrite(results / "geo" / "latest" / "run.json", meta | {"command": ["lab", "reproduce", "--quick"]})
    assert progress(fullest(results)[0], {"geo": 10, "leo": 30}).startswith("QUICK: 4 of 40 trials")


def test_claims_that_are_older_than_a_run_are_named(results: Path) -> None:
    runs, _, _ = fullest(results)
    assert outdated(results, runs) == []
    (results / "evaluation").mkdir()
    claims = results / "evaluation" / "claims.parquet"
    claims.touch()
    assert outdated(results, runs) == []
    os.utime(claims, (0, 0))
    assert outdated(results, runs) == ["newer than the claims below: geo; `lab evaluate` judges them again"]


def test_the_trial_browser_begins_with_geo_and_search(page: Path) -> None:
    runs, _, _ = fullest(page.parent)
    assert browsed_runs(list(reversed(runs)))[0].name == "example-geo-viasat"


def test_few_trials_are_a_count_and_many_a_percentage() -> None:
    row = {"chokepoint_pct": 50.0, "chokepoint_lo_pct": 19.0, "chokepoint_hi_pct": 81.0}
    assert share(row | {"judged": 6}, "chokepoint") == "3 of 6 [19\N{EN DASH}81]"
    assert share(row | {"judged": 20}, "chokepoint") == "50.0 [19\N{EN DASH}81]"
    assert share({"chokepoint_pct": 93.5}, "chokepoint") == "93.5"  # published


def test_a_published_row_names_the_version_that_the_paper_ran(results: Path) -> None:
    stored = Stored.of(Run(results / "geo" / "latest"))
    published = stored.run.scenario["published"]
    classes, _ = tables(pl.DataFrame({"cca": [], "heuristic": []}), stored.ccas, published)
    sources = [row.cells[0] for group in classes.groups for row in group.rows]
    assert sources == ["thesis, tables 5.1 & 5.3, SEARCH 2.0", "thesis, table 5.3"]


def test_a_run_of_fewer_trials_than_its_scenario_now_has_is_no_edited_one() -> None:
    scenario = {"profile": "geo", "trials": 3, "claims": []}
    assert _note(scenario | {"trials": 2}, scenario) == "2 of 3 trials of each sender"
    assert _note(scenario, {**scenario}) is None
    assert _note(scenario, scenario | {"profile": "leo"}) == "the scenario was edited since this run"
