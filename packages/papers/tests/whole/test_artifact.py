# SPDX-License-Identifier: GPL-2.0-or-later
"""The artifact names every claim with what it costs, from stored runs, and can be written again; its appendix fits."""

import dataclasses
import hashlib
import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lab_papers.artifact import documents, facts
from lab_papers.artifact.facts import Cost, Line
from lab_papers.commands import artifact as deposit
from lab_papers.evaluation.claims.numbered import claim_of, numbered
from lab_papers.evaluation.claims.rows import SCHEMA
from lab_papers.evaluation.claims.verdict import AGREES, COUNTED, UNJUDGED

from lab.base import paths
from lab.base.errors import UserError
from lab.schema.scenario import load_scenario, scenarios
from tests.brief import error_of, present, put
from tests.stored_run import rewrite, store_run

NOTHING = pl.DataFrame(schema=SCHEMA)


def test_every_row_of_every_scenario_is_in_one_claim() -> None:
    rows = [(name, row.source, row.row) for name in scenarios() for row in load_scenario(name)[1].claims]
    counted = [(claim.scenario, claim.source, row.row) for claim in numbered() for row in claim.rows]
    assert sorted(rows) == sorted(counted)


def test_claims_are_counted_without_a_gap_and_share_the_experiment_of_their_scenario() -> None:
    claims = numbered()
    assert [claim.name for claim in claims] == [f"C{number + 1}" for number in range(len(claims))]
    experiments = {claim.scenario: claim.experiment for claim in claims}
    assert sorted(experiments.values()) == list(range(1, len(experiments) + 1))


def test_a_claim_needs_the_counterfactuals_that_its_own_rows_name() -> None:
    claim = next(one for one in numbered() if (one.scenario, one.place) == ("thesis-wifi-strong", "figure 5.10"))
    assert claim.scenarios == ["thesis-wifi-strong", "thesis-wifi-strong-cycle"]


def test_a_claim_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UserError, match=r"claim=C0: must be a known claim: C1, .*, and [0-9]+ more"):
        claim_of("C0")


def test_a_scenario_of_ones_own_does_not_move_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [(claim.name, claim.scenario) for claim in numbered()]
    shutil.copy(paths.SCENARIOS / "poster-geo.yml", tmp_path / "a-first.yml")
    monkeypatch.setenv("LAB_SCENARIOS", str(tmp_path))
    assert [(claim.name, claim.scenario) for claim in numbered()] == before


def stored(results: Path, name: str, wall_s: float | None, complete: bool = True) -> Path:
    """Store a small run as the latest of a scenario."""
    run = store_run(results, trials=1, senders=("search",), name=name)
    meta = json.loads((run / "run.json").read_text()) | {"complete": complete}
    meta["host"] |= {"processor": "A processor", "cores": 2}
    meta.pop("wall_s", None)
    rewrite(run / "run.json", meta | ({} if wall_s is None else {"wall_s": wall_s}))
    (run.parent / "latest").symlink_to(run.name)
    return run


def test_costs_are_those_of_all_runs_that_a_claim_needs(tmp_path: Path) -> None:
    runs = [stored(tmp_path, "one", 60.0), stored(tmp_path, "two", 120.0)]
    size = sum(file.stat().st_size for run in runs for file in run.rglob("*") if file.is_file())
    found = facts.cost(facts.runs_of(tmp_path), ["one", "two", "one"])
    assert found.compute_min == 3.0
    assert found.megabytes == pytest.approx(size / 1e6)
    assert found.machines == ("A processor, 2 cores",)


@pytest.mark.parametrize("last", [(None, True), (60.0, False)])
@pytest.mark.parametrize("before", [(), ((60.0, True),)])
def test_the_minutes_of_a_claim_need_the_time_and_the_end_of_each_of_its_runs(
    before: tuple[Any, ...], last: tuple[float | None, bool], tmp_path: Path
) -> None:
    runs = [stored(tmp_path, f"run-{number}", *each) for number, each in enumerate([*before, last])]
    assert facts.cost(facts.runs_of(tmp_path), [run.parent.name for run in runs]).compute_min is None


def test_a_claim_without_its_run_has_no_cost_and_no_verdict(tmp_path: Path) -> None:
    line = facts.lines(tmp_path, NOTHING)[0]
    assert (line.cost.compute_min, line.cost.megabytes, line.verdict) == (None, None, facts.NOT_RUN)


def claims_table(verdicts: list[str]) -> pl.DataFrame:
    one = numbered()[0]
    row = dict.fromkeys(SCHEMA, None) | {"scenario": one.scenario, "document": one.document, "place": one.place}
    return pl.DataFrame([row | {"verdict": each, "ours": 1.0} for each in verdicts], schema=SCHEMA)


def test_the_verdict_counts_the_values_of_the_claim(tmp_path: Path) -> None:
    stored(tmp_path, numbered()[0].scenario, 60.0)
    line = facts.lines(tmp_path, claims_table([AGREES, UNJUDGED, AGREES]))[0]
    assert line.verdict == "2 agree, 1 cannot be judged here"


def test_a_value_that_no_trial_had_was_run(tmp_path: Path) -> None:
    row = claims_table([UNJUDGED]).with_columns(ours=pl.lit(None, pl.Float64))
    assert facts.lines(tmp_path, row)[0].verdict == facts.NOT_RUN
    stored(tmp_path, numbered()[0].scenario, 60.0)
    assert facts.lines(tmp_path, row)[0].verdict == "1 cannot be judged here"


def test_a_bound_has_no_tolerance(tmp_path: Path) -> None:
    found = {(line.claim.scenario, line.claim.place): line.tolerance for line in facts.lines(tmp_path, NOTHING)}
    assert found["thesis-leo", "section 5.3.2"] == "our 95 % interval"
    assert found["thesis-leo", "table 5.1"] == "10 points, 25 %"
    assert found["thesis-leo", "table 5.3"] == "10 points, our 95 % interval"  # a share of 3.9 %


def test_the_costs_are_of_the_run_that_the_verdicts_are_of(tmp_path: Path) -> None:
    larger = stored(tmp_path, "one", 60.0)
    smaller = shutil.copytree(larger, larger.parent / "2099-01-01T00-00-00Z")
    shutil.rmtree(smaller / "trials")
    (smaller / "trials").mkdir()
    (larger.parent / "latest").unlink()
    (larger.parent / "latest").symlink_to(smaller.name)
    rewrite(smaller / "run.json", json.loads((smaller / "run.json").read_text()) | {"wall_s": 1.0})
    assert facts.cost(facts.runs_of(tmp_path), ["one"]).compute_min == 1.0


@pytest.fixture
def lines(tmp_path: Path) -> list[Line]:
    first = numbered()[0]
    for name in first.scenarios:
        stored(tmp_path / "results", name, 90.0)
    return facts.lines(tmp_path / "results", claims_table([AGREES]))


def test_the_markdown_has_one_row_per_claim_with_its_cost(lines: list[Line]) -> None:
    text = documents.markdown(lines, "0123")
    rows = [row for row in text.splitlines() if row.startswith("| C")]
    assert len(rows) == len(numbered())
    minutes = 1.5 * len(numbered()[0].scenarios)
    assert f"| `make reproduce CLAIM=C1` | {facts.HUMAN_MIN} | {minutes:.1f} |" in rows[0]
    assert rows[0].endswith("| 1 agree |")
    assert "A processor, 2 cores" in text


def test_the_appendix_names_every_claim_and_experiment_once(lines: list[Line]) -> None:
    text = documents.appendix(lines, "0123")
    for claim in numbered():
        assert text.count(rf"\textbf{{(C{claim.number})}}") == 1
        assert text.count(rf"\textbf{{(E{claim.experiment})}}") == 1
    minutes = 1.5 * len(numbered()[0].scenarios)
    assert rf"\textbf{{(E1)}} [2 human-minutes + {minutes:.1f} compute-minutes]" in text


def test_a_deposit_can_be_written_again_and_its_checksums_hold(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("a bundle")
    for _ in range(2):
        files = deposit.write_deposit(tmp_path / "out", {"ARTIFACT.md": "text"}, "0123456789ab", tmp_path / "b")
    names = {file.name for file in files}
    assert {"ARTIFACT.md", "COPYING", "CITATION.cff", "SHA256SUMS", "search-lab.bundle"} <= names
    sums = dict(line.split("  ")[::-1] for line in (tmp_path / "out/SHA256SUMS").read_text().splitlines())
    assert sums.keys() == names - {"SHA256SUMS"}
    for name, digest in sums.items():
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == digest


def test_the_source_archive_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    found = []
    put(tmp_path / "a/.ARTIFACT.md.0a1b2c3d.part", "of a killed command")
    for name in ("a", "b"):
        deposit.write_deposit(tmp_path / name, {}, "0123456789ab", None)
        found.append((tmp_path / name / "search-lab-0123456789ab.tar.gz").read_bytes())
    assert found[0] == found[1]
    with tarfile.open(tmp_path / "a/search-lab-0123456789ab.tar.gz") as archive:
        assert "search-lab-0123456789ab/README.md" in archive.getnames()


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="must be in a folder that holds only an artifact"):
        deposit.write_deposit(tmp_path, {}, "0123456789ab", None)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("commit", "bundle", "line"),
    [
        ("0123456789ab-dirty", None, "must be a commit"),
        ("unknown", None, "must be a commit"),
        ("0123456789ab", Path("missing"), "No such file"),
    ],
)
def test_what_is_no_commit_and_a_bundle_that_is_not_there_are_refused(
    commit: str, bundle: Path | None, line: str, tmp_path: Path
) -> None:
    assert line in error_of(deposit.write_deposit, tmp_path / "out", {}, commit, bundle)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out").exists()


COST = Cost(754.3, 12_345.0, ("A processor of a long name @ 2.00GHz, 64 cores",))
LONGEST = ", ".join(f"12 {words}" for words in list(COUNTED.values())[:3])


def expensive(line: Line) -> Line:
    """Return a claim with long texts."""
    return dataclasses.replace(line, verdict=LONGEST, cost=COST, of_experiment=COST)


def test_the_appendix_has_at_most_two_pages_and_fits_its_columns(tmp_path: Path) -> None:
    assert shutil.which("pdflatex"), "LaTeX is missing: run scripts/setup-tests"
    lines = [expensive(line) for line in facts.lines(tmp_path, pl.DataFrame(schema=SCHEMA))]
    (tmp_path / "appendix.tex").write_text(documents.appendix(lines, "0123456789ab"))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "appendix.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    log = (tmp_path / "appendix.log").read_text(errors="replace")
    pages = present(re.search(r"Output written on appendix\.pdf \((\d+) page", log))
    assert int(pages[1]) <= 2
    assert "Overfull \\hbox" not in log


def test_where_no_claim_is_measured_they_are_counted_and_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    monkeypatch.setattr(deposit, "write_deposit", lambda *_: [])  # of a clean checkout only
    first, *_ = deposit.write(None, tmp_path / "out")
    assert first == f"not measured: all {len(numbered())} claims: their runs are not stored whole: make reproduce"
