# SPDX-License-Identifier: GPL-2.0-or-later
"""What a CI expects of a comparison: refused before it runs, judged by means, and a status with two files."""

import io
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
import typer
from lab_compare.exits import exits_of
from lab_compare.growing import State, looks_of
from lab_compare.report.forms import exit_cells, trials
from lab_compare.report.page import notes
from lab_compare.report.ranked import ranked
from lab_compare.results import of_link
from lab_try.expect import Expected, conclude, judged, read, require_known
from rich.console import Console

from lab.base.errors import UserError
from lab.base.stats import AtLeast
from lab.evaluation.measures import PRIMARY
from lab.judge.outcome import outcome
from lab.judge.stored import Stored
from lab.tables.digests import write_digests
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from tests.compared import Compared, store
from tests.stored_run import rewrite

FILLED_S = 1.1  # the queue is filled for good, and the window doubles once more


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    return store(tmp_path_factory.mktemp("results"), 5)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("geo chokepoint >= cubic", '"LINK: MEASURE OPERATOR SENDER"'),
        ("geo: chokepoint = cubic", '"LINK: MEASURE OPERATOR SENDER"'),
        ("geo: speed >= cubic", "of a measure: chokepoint, "),
        ("mars: chokepoint >= cubic", "of a link that runs: geo, wired"),
        ("geo: chokepoint >= vegas", "compared with a number or one of search, cubic"),
        ("geo: throughput >=", '"LINK: MEASURE OPERATOR SENDER"'),
        ("geo: harm <= 5", "of harm on a shared link"),
        ("geo: throughput >= search", "compared with another sender than itself"),
        ("geo: chokepoint <= 50", "of a share from 0 to 1"),
        ("geo: rule >= -0.1", "of a share from 0 to 1"),
        ("geo: chokepoint >= nan", "of a share from 0 to 1"),
        ("geo: throughput < inf", '"LINK: MEASURE OPERATOR SENDER"'),
        ("geo: throughput >= nan", '"LINK: MEASURE OPERATOR SENDER"'),
    ],
)
def test_what_cannot_be_expected_is_refused_before_anything_runs(compared: Compared, text: str, rule: str) -> None:
    with pytest.raises(UserError, match=r"command line: expect=.*: must be ") as refused:
        require_known([read(text)], compared[0])
    assert rule in str(refused.value)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("geo: throughput >= search", True),
        ("geo: throughput > search", False),
        ("geo: throughput > 0.5", True),
        ("geo: throughput < 0.5", False),
        ("geo: harm <= cubic", False),  # it has no value without a rival
    ],
)
def test_means_of_the_valid_trials_decide(compared: Compared, text: str, holds: bool) -> None:
    (row,) = judged([read(text)], ["search"], compared[1])
    assert (row.holds, row.link, row.subject) == (holds, "geo", "search")
    assert row.found.startswith("search ")


@pytest.mark.parametrize(("sign", "holds"), [("<", False), ("<=", False), (">", True)])
def test_of_an_object_that_never_came_only_a_longer_time_can_hold(compared: Compared, sign: str, holds: bool) -> None:
    """The mean of 14 s and of a download that ended without it after 15 s is 14.5 s at least, and may be 20 s."""
    geo = compared[1][0]
    found = replace(geo, values={"object_20000000": {"search": [14.0, AtLeast(15.0)]}})
    for right, known in (("15", False), ("14", holds)):
        (row,) = judged([read(f"geo: object_20000000 {sign} {right}")], ["search"], [found])
        assert (row.holds, row.found) == (known, "search \N{GREATER-THAN OR EQUAL TO}14.5 s")


def recorded(trial: Path, t_s: float | None, cause: str = "search") -> None:
    """Give a trial a module of a user's, the qdiscs of its path and another exit, with their digests."""
    shapes: list[tuple[str, dict[str, object]]] = [
        ("bottleneck", {"kind": "bfifo"}),
        ("delay-up", {"delay_us": 100_000}),
    ]
    applied = [
        {"part": part, "node": "gateway", "dev": "eth1", "spec": spec, "steps": None, "got": {}}
        for part, spec in shapes
    ]
    if t_s:
        file = trial / "exits.parquet"
        pl.read_parquet(file).with_columns(t_s=pl.lit(t_s), cause=pl.lit(cause)).write_parquet(file)
    modules = [{"name": "mine", "params": {}, "file": "own/mine.ko"}]
    (trial / "plan.json").write_text(json.dumps({"modules": modules, "flows": [{}]}))
    write_digests(trial)
    rewrite(trial / "trial.json", json.loads((trial / "trial.json").read_text()) | {"applied": applied})


@pytest.mark.parametrize(
    ("t_s", "found"),
    [
        (None, "search 100 %"),
        *(
            (t_s, f"search 80 %; 1 of its trials count for nothing: slow_start_left={t_s:.2f} s: must be an exit")
            for t_s in (0.9, FILLED_S)
        ),
    ],
)
def test_an_exit_that_its_packets_contradict_counts_for_nothing(tmp_path: Path, t_s: float | None, found: str) -> None:
    comparison, (geo, _) = store(tmp_path, 5)
    run = tmp_path / "compare-geo/20260101T000000Z"
    for number in range(1, 6):
        recorded(run / f"trials/search-{number:03d}", t_s if number == 2 else None)
    found_again = of_link(geo.link, Stored.of(Run(run)), looks_of(comparison))
    (row,) = judged([read("geo: chokepoint >= 0.9")], ["search"], [found_again])
    assert row.holds == (t_s is None)
    assert row.found.startswith(found)
    shown = (*ranked(comparison, PRIMARY, [found_again]).invalid, *notes([found_again], State()))
    lines = [line for line in shown if line.startswith("geo: search: the exit on record counts as missed in 1 of 5")]
    assert len(lines) == (0 if t_s is None else 2)  # on the terminal, and on the page
    assert exit_cells(exits_of(found_again)["search"])[1] == ("0/5/0" if t_s is None else "0/4/0 +1 contradicted")
    rows = trials([found_again]).filter(pl.col("contradiction").is_not_null())
    assert rows.select("sender", "trial", "exit_s", "exit_class", "chokepoint").rows() == (
        [] if t_s is None else [("search", 2, t_s, None, 0.0)]
    )


@pytest.mark.parametrize(("cause", "compared"), [("search", True), ("loss", False), ("timeout", False)])
def test_an_early_exit_by_loss_is_not_compared_as_slow_start_may_begin_again(
    tmp_path: Path, cause: str, compared: bool
) -> None:
    store(tmp_path, 1)
    trial = tmp_path / "compare-geo/20260101T000000Z/trials/search-001"
    recorded(trial, 0.9, cause)
    assert {row["contradiction"] is not None for row in outcome(Trial(trial))} == {compared}


def test_one_that_fails_is_a_status_a_line_and_a_failure_in_both_files(compared: Compared, tmp_path: Path) -> None:
    both = tuple(map(read, ("geo: throughput > 0.5", "wired:\x0bthroughput < 0.5")))  # which is no character of XML
    expected = Expected(both, tmp_path / "found.json", tmp_path / "found.xml")
    printed = io.StringIO()
    with pytest.raises(typer.Exit) as end:
        conclude(expected, ["search"], compared[1], Console(file=printed, width=200))
    assert end.value.exit_code == 1
    assert [line.split()[0] for line in printed.getvalue().splitlines()] == ["holds", "FAILS"]
    assert [row["holds"] for row in json.loads((tmp_path / "found.json").read_text())] == [True, False]
    suite = ElementTree.parse(tmp_path / "found.xml").getroot()  # noqa: S314 (our own)
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("classname") for case in suite if case.find("failure") is not None] == ["wired"]


@pytest.mark.parametrize(
    ("texts", "folder", "line"),
    [
        (("geo: throughput > 0.5",), "nosuch", "junit=.*/nosuch/found.xml: must be in a folder that can be written"),
        ((), "", "junit=.*found.xml: must be used with --expect"),
    ],
)
def test_a_file_of_no_expectation_or_in_no_folder_is_refused_before_any_trial(
    tmp_path: Path, texts: tuple[str, ...], folder: str, line: str
) -> None:
    with pytest.raises(UserError, match=line):
        Expected(tuple(map(read, texts)), junit=tmp_path / folder / "found.xml")


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda file: file.symlink_to("/dev/stdout")])
def test_what_would_be_replaced_by_a_plain_file_is_refused(tmp_path: Path, make: Callable[[Path], object]) -> None:
    file = tmp_path / "found"
    make(file)
    before = file.lstat()
    with pytest.raises(UserError, match=r"json=.*/found: must be a plain file, no folder, link or device"):
        Expected((read("geo: throughput > 0.5"),), json=file)
    assert file.lstat() == before


def test_one_file_for_both_forms_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"junit=.*: must be another file than that of --json"):
        Expected((read("geo: throughput > 0.5"),), tmp_path / "found", tmp_path / "found")


def test_all_that_hold_are_no_failure(compared: Compared) -> None:
    conclude(Expected((read("geo: throughput > 0.5"),)), ["search"], compared[1], Console(file=io.StringIO()))
