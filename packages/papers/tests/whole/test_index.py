# SPDX-License-Identifier: GPL-2.0-or-later
"""The index of all scenarios: what stands where something is missing or cut short, and what is made only once."""

import json
from pathlib import Path

import polars as pl
import pytest
from lab_compare.matrix.matrix import Matrix
from lab_papers.evaluation.claims import rows as claims
from lab_papers.evaluation.claims.verdict import AGREES, EXPLAINED, UNEXPLAINED
from lab_papers.fullest import stored
from lab_papers.index.claims import MEANINGS, shown
from lab_papers.index.recorded import RecordedPart
from lab_papers.index.source_tables import source_table
from lab_papers.index.summary import one_a_link
from lab_papers.index.write import page_of as index_of
from markupsafe import escape

from lab.judge import judged as judging
from lab.judge.ack_stream import ack_stream
from lab.judge.digest import OBJECT_BYTES, digest
from lab.judge.judged import OUTCOMES, judged
from lab.judge.slow_start import first_exit
from lab.judge.stored import Stored
from lab.tables.stored_run import Run
from tests.brief import present, put
from tests.stored_run import TOLERANCE, change, rewrite, sign, store_run

CLAIM = {"source": "thesis, table 5.3", "row": "GEO, SEARCH", "cca": "search", "trials": 77}
SHARES = {"early_pct": 3.9, "chokepoint_pct": 93.5, "late_pct": 2.6}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    store_run(tmp_path / "results", trials=1, latest=True)
    return tmp_path / "results"


def _run(results: Path) -> Run:
    return Run(results / "geo" / "latest")


def test_a_trial_is_judged_once_and_again_when_it_changes(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = judged(_run(results)).outcomes
    monkeypatch.setattr(judging, "_judge", lambda folder: f"{folder.name} was judged again")
    assert judged(_run(results)).outcomes.equals(before)
    file = results / "geo" / "latest" / "trials" / "cubic-001" / "trial.json"
    file.write_text(file.read_text() + "\n")
    sign(file)
    again = judged(_run(results))
    assert again.faults == ("cubic-001 was judged again",)
    assert set(again.outcomes["cca"]) == {"search", "cubic_plain", "bbr"}


def test_a_trial_that_cannot_be_read_is_reported_and_the_others_stand(results: Path) -> None:
    whole = judged(_run(results)).trials.height
    file = put(results / "geo" / "latest" / "trials" / "cubic-001" / "trial.json", "{")
    sign(file)
    left = judged(_run(results))
    assert left.trials.height == whole - 1
    assert left.faults == (f"{file}: must be whole JSON: --resume runs the trial again",)


def test_a_run_with_a_question_about_the_lab_is_not_summed_up(results: Path) -> None:
    assert [each.name for each in one_a_link(stored(results)[0])] == ["geo"]
    change(results / "geo" / "latest", scenario={"in_summary": False})
    assert one_a_link(stored(results)[0]) == []


def test_what_was_kept_and_cut_short_is_made_again(results: Path) -> None:
    before = judged(_run(results)).outcomes
    kept = results / "geo" / "latest" / OUTCOMES
    kept.write_bytes(kept.read_bytes()[:100])
    assert judged(_run(results)).outcomes.equals(before)


def test_the_digest_has_when_each_object_was_downloaded(results: Path) -> None:
    trial = next(trial for trial in _run(results).trials if trial.cca == "search")
    reported = digest(trial)
    first_s, arrived = reported["download_s"][0], trial.packets.filter("to_client", pl.col("len_bytes") > 0)
    by_then = arrived.filter(pl.col("t_s") <= first_s)["len_bytes"].sum()
    assert OBJECT_BYTES <= by_then < OBJECT_BYTES + 20 * 1448
    assert reported["download_s"][-1] is None  # 20 MB do not fit into 4 s of 8 Mb/s
    present(first_exit(trial.exits))
    assert reported["initial_rtt_ms"] == pytest.approx(trial.meta["base_rtt_ms"], rel=0.05)
    assert reported["max_rtt_ms"] is not None
    assert reported["max_rtt_ms"] > trial.meta["base_rtt_ms"]


def test_the_longest_round_trip_of_a_digest_is_that_of_slow_start(results: Path) -> None:
    trial = next(
        trial for trial in _run(results).trials if trial.cca == "cubic"
    )  # HyStart leaves before the queue fills
    left = present(first_exit(trial.exits))
    stream = ack_stream(trial.acks)
    within = stream.filter(pl.col("t_us") <= left.t_s * 1e6)["rtt_us"].max()
    longest_ms = digest(trial)["max_rtt_ms"]
    assert longest_ms == within / 1e3  # type: ignore[operator]
    assert digest(trial)["initial_rtt_ms"] == stream["rtt_us"][0] / 1e3
    assert longest_ms < stream["rtt_us"].max() / 1e3  # type: ignore[operator]
    trial.__dict__["acks"] = trial.acks.clear()
    assert (digest(trial)["initial_rtt_ms"], digest(trial)["max_rtt_ms"]) == (None, None)


def test_a_published_row_has_ours_below_it_by_the_rule_of_the_papers_and_in_truth(results: Path) -> None:
    file = results / "geo" / "latest" / "run.json"
    meta = json.loads(file.read_text())
    meta["scenario"] |= {"claims": [CLAIM | {"values": SHARES}], "tolerance": TOLERANCE}
    rewrite(file, meta)
    table = present(source_table("thesis-5.3", "thesis, table 5.3", "Exits.", [Stored.of(_run(results))], None))
    (group,) = table.groups
    assert [row.cells[0] for row in group.rows] == [
        "thesis, table 5.3",
        "here, by latency offset",
        "here, by the true queue",
        "here, by the true queue, lasting",
    ]
    assert group.rows[0].cells[1:] == ("77", "3.9", "93.5", "2.6")
    assert [row.published for row in group.rows] == [True, False, False, False]
    assert source_table("x", "thesis, table 5.2", "None.", [Stored.of(_run(results))], None) is None


def claim(metric: str, verdict: str, **changes: object) -> dict[str, object]:
    """A row of evaluation/claims.parquet."""
    nothing = dict.fromkeys(claims.SCHEMA)
    about = {"claim": f"A claim of {metric}.", "document": "thesis", "place": "table 5.1", "row": "LEO", "unit": "s"}
    measured = {"form": "SEARCH 2.0", "published": 0.4, "tolerance": 0.1, "ours": 0.1, "lo": 0.08, "hi": 0.12}
    return (
        nothing
        | about
        | measured
        | {"scenario": "leo", "metric": metric, "verdict": verdict, "clock": "data"}
        | changes
    )


def page_of(*rows: dict[str, object], scenarios: tuple[dict[str, object], ...] = ()) -> str:
    table = pl.DataFrame(rows, schema=claims.SCHEMA, orient="row")
    return index_of(
        progress="",
        sentences=[],
        matrix=Matrix({}, [], [], []),
        overviews=[],
        summary=None,
        scenarios=scenarios,
        chapters=[],
        recorded=RecordedPart(),
        claims=shown(table),
        heuristics=False,
        browsed={"quantities": [], "senders": {}, "trials": []},
        faults=[],
        trials=0,
        valid=0,
        downloads=[],
        notes=[],
        until="",
    )


def test_the_page_shows_claim_ours_and_what_the_counterfactual_gave() -> None:
    theirs = {"counterfactual": "leo-100", "changes": "profile fast", "counterfactual_value": 0.38, "closed_pct": 93.0}
    interval = {"counterfactual_lo": 0.36, "counterfactual_hi": 0.41, "ours_from_syn": 0.15, "trials": 77}
    page = page_of(
        claim("capacity_s", EXPLAINED, why="the link is slow", **theirs, **interval), claim("x", UNEXPLAINED)
    )
    for printed in (
        "<strong>1 differ, explained by a run</strong>",
        "<strong>1 differ, not explained</strong>",
        "0.1 [0.08 to 0.12] s",
        "77 trials; 0.15 s from the SYN",
        "0.38 [0.36 to 0.41] s",
        "leo-100: profile fast; 93 % of the way",
        "the link is slow",
        "0.3 s less, 3.0 times the tolerance of 0.1; our interval excludes the published value",
        "Times of thesis count from the first data segment",
    ):
        assert printed in page


def test_the_page_explains_each_verdict_that_it_shows() -> None:
    page = page_of(claim("capacity_s", EXPLAINED), claim("exit_s", AGREES))
    assert escape(MEANINGS[EXPLAINED]) in page
    assert escape(MEANINGS[AGREES]) in page
    assert escape(MEANINGS[UNEXPLAINED]) not in page


def test_the_page_counts_how_many_agreeing_values_lie_in_our_interval() -> None:
    inside, outside = {"published": 0.1}, {"published": 0.15}
    rows = (claim("capacity_s", AGREES, **inside), claim("exit_s", AGREES, **outside), claim("loss_s", UNEXPLAINED))
    found = present(shown(pl.DataFrame(rows, schema=claims.SCHEMA, orient="row")))
    assert found["header"][:2] == ("agree", "of these, in our interval")
    assert [source["counts"][:2] for source in found["sources"]] == [[2, 1], [2, 1]]


def test_a_counterfactual_stands_among_the_scenarios_as_what_it_is() -> None:
    both: dict[str, object] = {"question": "Does it leave?", "state": "77 valid", "page": "x.html", "files": ()}
    own, other = {"name": "leo", "base": None}, {"name": "leo-100", "base": "leo", "changes": "profile fast"}
    page = page_of(scenarios=(both | own, both | other))
    assert "Counterfactual of leo: with profile fast" in page


def test_ours_in_a_table_of_a_source_count_from_the_data_as_the_source_does(results: Path) -> None:
    file = results / "geo" / "latest" / "run.json"
    meta = json.loads(file.read_text())
    found = {}
    for clock in ("data", "syn"):
        claim = CLAIM | {"values": {"exit_s": 13.7}, "clock": clock}
        meta["scenario"] |= {"claims": [claim], "tolerance": TOLERANCE}
        rewrite(file, meta)
        table = present(source_table("t", "thesis, table 5.3", "Exits.", [Stored.of(_run(results))], None))
        found[clock] = float(table.groups[0].rows[1].cells[2])
        assert ": SEARCH 2.0" in table.groups[0].label
    data_s = Stored.of(_run(results)).judged.outcomes.filter(cca="search")["data_s"][0]
    assert found["syn"] - found["data"] == pytest.approx(data_s, abs=0.011)
