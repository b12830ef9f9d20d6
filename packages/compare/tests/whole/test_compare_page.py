# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a comparison states what the stored trials hold, and nothing that was not run."""

import csv
import os
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lab_compare import record
from lab_compare.growing import State
from lab_compare.ranks import RankedPlace
from lab_compare.report.ranked import Ranked, ranked
from lab_compare.report.sentences import sentences
from lab_compare.report.worst import worst_trials
from lab_compare.report.write import write_reports
from lab_compare.results import LinkResult, digest_of
from rich.console import Console

from lab.base.errors import UserError
from lab.evaluation.measures import PRIMARY, Values, values
from lab.judge.judged import OUTCOMES
from lab.judge.summary import summarise
from tests.compared import SENDERS, Compared, example, store
from tests.unit.conftest import one_process  # noqa: F401

TRIALS = 8
MOST_BYTES = 5_000_000


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def compared(results: Path) -> Compared:
    return store(results, TRIALS)


@pytest.fixture(scope="module")
def written(results: Path, compared: Compared) -> tuple[Path, Ranked]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_RESULTS", str(results))
        return example(*compared)


def page_of(written: tuple[Path, Ranked]) -> str:
    return (written[0] / "compare.html").read_text()


def rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text().splitlines()))


def test_the_page_is_a_small_file_that_fetches_nothing_and_opens_its_runs_trials(written: tuple[Path, Ranked]) -> None:
    page = page_of(written)
    assert len(page.encode()) < MOST_BYTES
    assert not re.findall(
        r"""(?:src|href)=["'](?!#|data:|\.\./|https://www\.rfc-editor\.org/rfc/rfc9743|[a-z-]+\.\w+["'])""", page
    )
    assert "@import" not in page
    folder = written[0]
    opened = set(re.findall(r'href="(\.\./[^"]*)"', page_of(written)))
    assert {(folder / path).resolve().parents[1].name for path in opened} == {"compare-geo", "compare-wired"}
    assert all((folder / path).is_file() for path in opened)


def test_the_share_of_the_matrix_is_that_of_the_runs_summary(written: tuple[Path, Ranked], compared: Compared) -> None:
    ranked = rows(written[0] / "ranks.csv")
    for found in compared[1]:
        assert found.stored
        summary = summarise(found.stored.judged.outcomes, SENDERS).filter(heuristic="truth")
        for cca, share_pct in summary.select("cca", "chokepoint_pct").iter_rows():
            (row,) = [
                each
                for each in ranked
                if (each["link"], each["sender"], each["measure"]) == (found.link.name, cca, PRIMARY)
            ]
            assert float(row["mean"]) * 100 == pytest.approx(share_pct)


def test_each_trials_value_and_its_exit_with_its_class_are_in_the_table_of_trials(written: tuple[Path, Ranked]) -> None:
    listed = rows(written[0] / "trials.csv")
    table = {(row["link"], row["sender"], row["trial"]): row for row in listed}
    assert len(listed) == len(table) == 2 * len(SENDERS) * TRIALS
    assert float(table["geo", "search", "2"]["throughput_mbps"]) == 7.0  # of the stored trial
    assert 0.5 < float(table["geo", "cubic", "1"]["exit_s"]) < 1.5
    assert [table["geo", cca, "1"]["exit_class"] for cca in SENDERS] == ["chokepoint", "early", "late", "chokepoint"]
    invalid = table["geo", "bbr", str(TRIALS)]
    assert invalid["throughput_mbps"] == invalid["exit_class"] == ""
    assert page_of(written).count("1 trial is invalid") == 2
    megabyte = [(table["geo", "cubic", n]["object_1000000_s"], table["geo", "cubic", n]["lower_bounds"]) for n in "23"]
    assert megabyte == [("3.998046", "0"), ("4.000000", "1")]  # the second download ended before it had so much


def test_the_terminal_names_an_invalid_trials_reason_and_ends_with_the_exits(written: tuple[Path, Ranked]) -> None:
    console = Console(width=300, record=True, file=StringIO())
    console.print(written[1].shown(300))
    text = console.export_text()
    assert f"geo: invalid, in no result: bbr-{TRIALS:03d}: capture drops 7 packets where 0 was requested" in text
    at_s = r"\d\.\d\d s"
    geo, wired = f"{TRIALS} of {TRIALS} at the chokepoint", f"{TRIALS} of {TRIALS} late"
    line = rf"SEARCH 2\.0 \+ fixes leaves slow start on geo at {at_s}, {geo}; on wired at {at_s}, {wired}\."
    assert re.fullmatch(line, text.splitlines()[-1].strip())


def test_senders_share_a_rank_until_they_separate(compared: Compared) -> None:
    for found in compared[1]:  # every sender has the same throughput in the stored trials
        assert set(found.places["throughput"].values()) == {RankedPlace(1, 4)}
    geo = compared[1][0]
    assert geo.values[PRIMARY]["search"] == [1.0] * TRIALS
    assert geo.values[PRIMARY]["cubic_plain"] == [0.0] * TRIALS
    assert geo.places[PRIMARY]["search"].best == 1
    assert geo.places[PRIMARY]["cubic_plain"].best > 1


def test_an_object_or_rival_of_no_download_is_no_measure(compared: Compared, written: tuple[Path, Ranked]) -> None:
    for found in compared[1]:
        assert "object_100000" in found.values
        assert "object_20000000" not in found.values
    page = page_of(written)
    assert page.count('data-of="harm" hidden><small>not run</small>') == 2 * len(SENDERS)


def test_an_object_took_the_time_of_its_download_and_all_of_it_where_it_never_came(compared: Compared) -> None:
    geo = compared[1][0]
    assert geo.stored
    valid = geo.stored.judged.trials.filter("valid")
    for row in valid.iter_rows(named=True):
        assert geo.values["object_100000"][row["cca"]][row["trial"] - 1] == row["download_s"][0]
    nothing = pl.lit([None] * len(valid["download_s"][0]), valid.schema["download_s"])
    late_s, lost = 5.3, pl.col("trial").eq(2) & pl.col("cca").eq("search")  # data that come so long after the SYN
    download_s = pl.when(lost).then(nothing).otherwise("download_s")
    trials = geo.stored.judged.trials.with_columns(
        download_s=download_s, end_s=pl.when(lost).then(late_s).otherwise("end_s")
    )
    judged = replace(geo.stored.judged, trials=trials)
    changed = values(replace(geo.stored, judged=judged))["object_100000"]["search"]
    assert changed[1] == late_s
    assert changed[0] == geo.values["object_100000"]["search"][0]


def test_the_sentence_names_those_that_are_tied_and_those_that_have_not_separated_yet(compared: Compared) -> None:
    comparison, (geo, _) = compared
    found = [
        replace(pair, separated=False, hopeless=pair.second == "cubic") if pair.first == "search" else pair
        for pair in geo.pairs[PRIMARY]
    ]
    (sentence,) = sentences(comparison, [replace(geo, pairs={**geo.pairs, PRIMARY: found})], PRIMARY)
    tied, _, open_ = sentence.text.partition(" has not separated from ")
    assert "is tied with CUBIC with HyStart (" in tied
    assert "CUBIC without HyStart (" in open_
    assert "BBR v1 (" in open_


def test_a_link_on_which_no_sender_left_slow_start_is_said_to_be_that(compared: Compared) -> None:
    comparison, (geo, _) = compared
    (sentence,) = sentences(comparison, [replace(geo, places={**geo.places, PRIMARY: {}})], PRIMARY)
    assert sentence.text.startswith("At the chokepoint: SEARCH 2.0 + fixes, ")
    assert ": no exit was judged." in sentence.text


@pytest.mark.parametrize("width", [80, 112])
def test_the_terminal_has_a_row_per_link_and_a_cell_per_sender_and_the_ranks_where_they_are_asked_for(
    written: tuple[Path, Ranked], width: int
) -> None:
    answer, shown = written[1], []
    for verbose in (False, True):
        console = Console(width=width, record=True, file=StringIO())
        console.print(answer.shown(width, verbose))
        shown.append(" ".join(console.export_text().split()))
    assert all(f"Digest of the results: {answer.digest}" in text for text in shown)
    assert all(f" {group.label} {group.rows[0].cells[0]} " in shown[0] for group in answer.exit_table.groups)
    assert len(answer.exit_table.header) == len(answer.table.groups[0].rows)
    assert [answer.table.caption in text for text in shown] == [False, True]


def test_the_report_is_written_where_it_is_older_than_its_trials_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    _, (geo, wired) = store(tmp_path, 1)
    assert geo.stored
    assert wired.stored
    for each, age_s in ((geo, -10), (wired, 10)):
        assert each.stored
        run = each.stored.run.path
        at_s = (run / OUTCOMES).stat().st_mtime + age_s
        os.utime(run / "report.html", (at_s, at_s))
    empty = replace(geo, stored=None)
    assert write_reports([geo, empty, wired]) == []
    pages = [(each.stored.run.path / "report.html").read_text() for each in (geo, wired) if each.stored]
    assert ["The run's own page" in page for page in pages] == [False, True]
    (wired.stored.run.path / "report.html").unlink()
    (wired.stored.run.path / "run.json").write_text("{")
    (line,) = write_reports([geo, wired])
    assert "run.json" in line


def test_the_worst_trial_stands_next_to_the_best_of_that_draw(written: tuple[Path, Ranked], compared: Compared) -> None:
    worst = worst_trials(compared[1], ["cubic_plain"], PRIMARY)
    assert len(worst) == 2
    for each in worst:
        assert each.found.values[PRIMARY][each.best][each.trial - 1] == 1.0
        assert each.behind == 1.0
    assert page_of(written).count('class="explained"') == 2
    assert "left slow start at" in page_of(written)


def test_the_results_have_one_digest_wherever_they_are_computed(
    written: tuple[Path, Ranked], compared: Compared, tmp_path: Path
) -> None:
    assert digest_of(store(tmp_path, TRIALS)[1]) == written[1].digest
    assert written[1].digest in page_of(written)
    changed = compared[1][0]
    throughput: Values = {**changed.values["throughput"], "search": [1.0] * TRIALS}
    values = {**changed.values, "throughput": throughput}
    assert digest_of([replace(changed, values=values), compared[1][1]]) != written[1].digest


def test_the_ranks_are_a_table_for_papers_and_no_number_is_a_negative_nothing(written: tuple[Path, Ranked]) -> None:
    latex = (written[0] / "ranks.tex").read_text()
    assert r"\toprule" in latex
    assert "CUBIC without HyStart" in latex
    for name in ("ranks.csv", "trials.csv"):
        assert not re.search(r"(^|,)-0\.0*(,|$)", (written[0] / name).read_text(), re.MULTILINE)


def test_what_has_no_result_is_named(results: Path, compared: Compared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(results))
    comparison, (geo, wired) = compared
    state = State(failures={"compare-geo search-001": "the kernel <stopped>"}, budget_used=True)
    page = page_of(example(comparison, [geo, LinkResult(wired.link, None, {}, {}, {})], state))
    assert "No result: compare-geo search-001: the kernel &lt;stopped&gt;" in page
    assert "unfinished" in page
    assert "wired, modelled: no trial has a result." in page


def test_links_where_no_sender_has_separated_share_a_line_and_others_keep_their_sentence(compared: Compared) -> None:
    comparison, (geo, wired) = compared
    alike = dict.fromkeys(SENDERS, RankedPlace(1, len(SENDERS)))
    without = dict.fromkeys(SENDERS[1:], RankedPlace(1, len(SENDERS) - 1))
    found = [replace(each, places=dict(each.places) | {PRIMARY: of}) for each, of in ((geo, alike), (wired, without))]
    notable = ranked(comparison, PRIMARY, found).notable
    assert notable[-1] == f"No sender has separated from another on {geo.link.title}."
    assert notable[0].startswith(f"{wired.link.title}: ")
    assert notable[0].endswith("no exit was judged.")


def test_a_comparison_without_a_valid_trial_is_written_and_says_why(
    compared: Compared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    comparison, (geo, _) = compared
    assert geo.stored
    judged = replace(geo.stored.judged, trials=geo.stored.judged.trials.with_columns(valid=False))
    nothing = LinkResult(geo.link, replace(geo.stored, judged=judged), {}, {}, {})
    written = example(comparison, [nothing])
    assert f"{TRIALS * len(SENDERS)} trials are invalid" in page_of(written)
    ranks = (written[0] / "ranks.txt").read_text()
    assert f"GEO, modelled: no result: none of its {TRIALS * len(SENDERS)} trials is valid." in ranks
    assert "CUBIC without HyStart" in ranks


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"trials": 6}, "trials=8: must be 6"),
        ({"seed": 2}, "seed=18: must be 2"),
        ({"module_digest": "b" * 16}, r"comparison\.json: senders\.search=.*: must be .*: run without --resume"),
    ],
)
def test_resume_refuses_another_request_and_another_version_of_a_senders_module(
    compared: Compared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], line: str
) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    with pytest.raises(UserError, match="no comparison to resume"):
        record.resumed(record.requested(compared[0], PRIMARY))
    folder = record.begin(record.requested(compared[0], PRIMARY))
    assert record.resumed(record.requested(compared[0], PRIMARY)) == folder
    if "module_digest" in changed:
        senders = compared[0].senders
        changed = {"senders": {**senders, "search": senders["search"].model_copy(update=changed)}}
    with pytest.raises(UserError, match=line):
        record.resumed(record.requested(replace(compared[0], **changed), PRIMARY))
