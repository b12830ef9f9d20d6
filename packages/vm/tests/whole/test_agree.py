# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab agree`: runs of one scenario in several places are compared trial by trial."""

import shutil
from io import StringIO
from pathlib import Path

import polars as pl
from lab_vm import agree
from rich.console import Console

from lab.base.format import NONE
from lab.base.paths import REPO
from lab.judge.registry import TRUTH
from lab.report.table import Table
from lab.report.text import shown
from lab.tables.run_json import RunJson
from lab.tables.stored_run import Run
from tests.brief import error_of, folder_at
from tests.compared import store
from tests.stored_run import change, rewrite, run_json, store_run


def stored(folder: Path, name: str, place: tuple[str, str], digest: str = "the same") -> None:
    run = folder_at(folder / name)
    meta: RunJson = {
        **run_json(("search",)),
        "digests": {"scenario": digest},
        "backend": place[0],
        "engine": place[1],
        "kernel": {"kernel_source": f"Linux of {name}"},
    }
    rewrite(run / "run.json", meta)


def outcomes(*exits_s: float, invalid: int = 0) -> pl.DataFrame:
    """Return the outcomes of trials of SEARCH with these exits, the last ones invalid."""
    count = len(exits_s)
    return pl.DataFrame(
        {
            "cca": ["search"] * count,
            "trial": list(range(1, count + 1)),
            "valid": [number < count - invalid for number in range(count)],
            "exit_class": ["chokepoint"] * count,
            "capacity_s": [1.0] * count,
            "exit_s": exits_s,
            "loss_s": [None] * count,
            "throughput_mbps": [9.5] * count,
        },
        schema_overrides={"loss_s": pl.Float64},
    )


def compared(folder: Path, *of_runs: pl.DataFrame) -> Table:
    runs = agree.latest(folder)
    return agree.table([agree.place_run(run, rows) for run, rows in zip(runs, of_runs, strict=True)])


def test_places_are_compared_over_the_trials_that_are_valid_in_both(tmp_path: Path) -> None:
    stored(tmp_path, "2026-01-01", ("virtual", "netns"))
    stored(tmp_path, "2026-01-02", ("vm", "mininet"))
    stored(tmp_path, "2026-01-03", ("vm", "netns"), digest="of another scenario")
    (group,) = compared(tmp_path, outcomes(2.0, 4.0), outcomes(2.2, 9.0, invalid=1)).groups
    first, second = (row.cells for row in group.rows)
    assert first == ("virtual/netns", "2 of 2", "chokepoint", "1.00", "3.00", "\N{EN DASH}", "9.5")
    assert second[:2] == ("vm/mininet", "1 of 2")
    assert second[4] == "2.20\n+10.0 %"


def test_a_terminal_of_80_columns_loses_nothing_of_the_comparison(tmp_path: Path) -> None:
    stored(tmp_path, "2026-01-01", ("virtual", "netns"))
    stored(tmp_path, "2026-01-02", ("vm", "containerlab"))
    text = StringIO()
    Console(file=text, width=80).print(shown((), (compared(tmp_path, outcomes(12.0), outcomes(13.2)),), 80))
    words = "".join(text.getvalue().split())
    assert all(printed in words for printed in ("virtual", "vm/", "13.20", "+10.0%", "chokepoint"))
    assert "\N{HORIZONTAL ELLIPSIS}" not in words


def test_a_damaged_trial_is_in_no_comparison(tmp_path: Path) -> None:
    run = Run(shutil.copytree(REPO / "tests" / "data" / "stored" / "format-2", tmp_path / "run"))
    assert agree.judged_by(run, TRUTH)["cca"].to_list() == ["search"]
    (run.path / "trials" / "search-001" / "trial.json").write_text("{}")
    assert "sha256=" in error_of(agree.judged_by, Run(run.path), TRUTH)


def test_the_places_agree_where_their_trials_do(tmp_path: Path) -> None:
    of_link = store(tmp_path, 2)[1][0].stored
    assert of_link
    first = agree.PlaceRun(agree.FIRST, "Linux 6.12", agree.judged_by(of_link.run, TRUTH))
    faster = first.outcomes.with_columns(pl.col("throughput_mbps") * 1.5)
    table = agree.table([first, agree.PlaceRun("host/netns", "Linux 6.1", faster)])
    assert table.notes == ("Linux 6.12: virtual/netns.", "Linux 6.1: host/netns.")
    group = next(group for group in table.groups if group.label == "bbr")
    ours, theirs = (row.cells for row in group.rows)
    assert (ours[0], theirs[0]) == ("virtual/netns", "host/netns")
    assert (ours[1], theirs[1]) == ("1 of 2", "1 of 2")
    assert (ours[-1], theirs[-1]) == ("6.0", "9.0\n+50.0 %")
    assert theirs[3].endswith("\n+0.0 %") or theirs[3] == NONE


def test_without_a_run_of_the_virtual_kernel_there_is_nothing_to_agree_with(tmp_path: Path) -> None:
    run = store_run(tmp_path, 1)
    assert [each.path for each in agree.latest(run.parent)] == [run]
    change(run, backend="host")
    assert "must hold a complete run of virtual/netns" in error_of(agree.latest, run.parent)
