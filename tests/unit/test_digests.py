# SPDX-License-Identifier: GPL-2.0-or-later
"""What was stored is either read as it was stored, or named in one line as damaged; never read as something else."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.base.errors import UserError
from lab.base.paths import REPO
from lab.base.plain_file import read_plain
from lab.judge.judged import OUTCOMES, judged
from lab.judge.stored import without_digests
from lab.report import trust
from lab.tables.digests import SUMS, read_digests, write_digests, write_with_digest
from lab.tables.stored_run import Run
from lab.tables.stored_trial import TABLES, Trial
from tests.examples import examples

FIXTURE = REPO / "tests" / "data" / "stored" / "format-2"
FLIPS, FLIPS_WITHOUT_DIGESTS = 600, 150
OF_RUN = ("run.json", "run.json.sha256")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURE, tmp_path / "stored" / "format-2"))


@pytest.fixture
def old(run: Path) -> Path:
    """The same run as the lab stored it before there were digests."""
    (run / "run.json.sha256").unlink()
    (run / "trials" / "search-001" / SUMS).unlink()
    return run


def lines(run: Path) -> list[str]:
    """Return what a command prints about damage to a run."""
    try:
        stored = Run(run)
        _ = stored.meta
        return stored.faults
    except UserError as error:
        return [str(error)]


def flip(file: Path, place: int) -> bytes:
    """Flip a bit; returns the content before."""
    content = file.read_bytes()
    flipped = bytearray(content)
    flipped[place // 8] ^= 1 << place % 8
    file.write_bytes(flipped)
    return content


def can_be_read(trial: Trial, table: str) -> bool:
    try:
        _ = getattr(trial, table)
    except UserError:
        return False
    return True


def edit(file: Path, change: Callable[[Any], object]) -> None:
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content, indent=1))


def test_every_flipped_bit_is_one_line_and_its_trial_counts_as_missing(run: Path) -> None:
    files = sorted(file for file in run.rglob("*") if file.is_file())
    draw = np.random.default_rng(16)
    trial = run / "trials" / "search-001"
    for _ in range(examples(FLIPS)):
        file = files[draw.integers(len(files))]
        place = int(draw.integers(8 * file.stat().st_size))
        before = flip(file, place)
        (line,) = lines(run)
        assert line.startswith(str(file if file.suffix in (".json", ".parquet") else file.parent)), (file, place)
        assert "\n" not in line
        assert file.name in OF_RUN or not Trial(trial).is_whole, (file, place)
        file.write_bytes(before)
    assert lines(run) == []
    assert Trial(trial).is_whole


def test_a_flipped_bit_of_a_table_without_a_digest_is_read_or_its_trial_counts_as_missing(old: Path) -> None:
    draw = np.random.default_rng(16)
    for _ in range(examples(FLIPS_WITHOUT_DIGESTS)):
        name = TABLES[draw.integers(len(TABLES))]
        file = old / "trials" / "search-001" / f"{name}.parquet"
        before = flip(file, int(draw.integers(8 * file.stat().st_size)))
        assert Trial(file.parent).is_whole == can_be_read(Trial(file.parent), name), name
        file.write_bytes(before)


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["certificate"].update(valid=False),
        lambda content: content["flows"][0].update(throughput_mbps=1e99),
        lambda content: content.update(trial=2),
    ],
)
def test_an_edited_trial_is_named_and_in_no_result(run: Path, change: Callable[[Any], object]) -> None:
    before = judged(Run(run))
    edit(run / "trials" / "search-001" / "trial.json", change)
    after = judged(Run(run))
    assert (before.trials.height, after.trials.height, len(after.faults)) == (1, 0, 1)
    assert "trial.json: sha256=" in after.faults[0]
    assert after.faults[0].endswith("--resume runs the trial again")


def test_a_kept_judgement_with_a_flipped_bit_is_made_again(run: Path) -> None:
    expected = judged(Run(run)).outcomes
    flip(run / OUTCOMES, 8 * 300)
    assert judged(Run(run)).outcomes.equals(expected)


def test_a_trial_without_digests_is_judged_again_when_a_value_changes_and_no_size(old: Path) -> None:
    throughput = judged(Run(old)).outcomes["throughput_mbps"][0]
    file = old / "trials" / "search-001" / "trial.json"
    text = file.read_text()
    number = f'"throughput_mbps": {throughput}'
    assert number in text
    file.write_text(text.replace(number, number[:-1] + ("1" if number[-1] != "1" else "2")))
    assert judged(Run(old)).outcomes["throughput_mbps"][0] != throughput


def test_a_run_without_digests_is_read_and_said_to_have_none(old: Path) -> None:
    stored = Run(old)
    assert (lines(old), len(stored.trials), len(stored.without_digests)) == ([], 1, 1)
    assert trust.unnoticed(stored).startswith("No digests stored: 1 of 1 trials")
    (old.parent / "latest").symlink_to(old.name)
    (line,) = without_digests(old.parents[1])
    assert line.startswith("no digests stored: 1 of 1 trials, of 1 runs")


def test_of_a_run_with_digests_nothing_is_said(run: Path) -> None:
    (run.parent / "latest").symlink_to(run.name)
    assert (trust.unnoticed(Run(run)), without_digests(run.parents[1])) == ("", [])


def test_a_run_of_this_format_is_read_for_ever() -> None:
    stored = Run(FIXTURE)
    (trial,) = stored.trials
    assert (trial.cca, trial.number, trial.valid, stored.complete) == ("search", 1, True, True)
    assert (trial.packets.height, trial.acks.height) == (303, 71)


@pytest.mark.parametrize("version", [1, 99, None])
@pytest.mark.parametrize("file", ["run.json", "trials/search-001/trial.json"])
def test_another_format_is_refused_in_one_line(old: Path, file: str, version: int | None) -> None:
    edit(old / file, lambda content: content.update(format=version))
    (line,) = lines(old)
    assert line.startswith(f"{old / file}: format={version}: must be 2: another version of the lab stored it")


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("run.json", lambda run: run.update(scenario={})),
        ("run.json", lambda run: run.update(scenario=[])),
        ("run.json", lambda run: run["scenario"].update(ccas=None)),
        ("run.json", lambda run: run["scenario"].update(claims=[{}])),
        ("run.json", lambda run: run["scenario"].update(tolerance=1)),
        ("run.json", lambda run: run.update(ccas=[{}])),
        ("run.json", lambda run: run.update(ccas=[{"name": "\n" * 5000}])),
        ("run.json", lambda run: run.pop("kernel")),
        ("trials/search-001/trial.json", lambda trial: trial.update(flows=[])),
        ("trials/search-001/trial.json", lambda trial: trial.update(cca="other")),
        ("trials/search-001/trial.json", lambda trial: trial.update(certificate=None)),
    ],
)
def test_damaged_json_that_is_still_json_is_one_line_of_bounded_length(
    old: Path, file: str, change: Callable[[Any], object]
) -> None:
    edit(old / file, change)
    (line,) = lines(old)
    assert line.startswith(f"{old / file}: ")
    assert len(line.splitlines()) == 1
    assert len(line) < 1000


def test_deeply_nested_json_is_one_line(old: Path) -> None:
    (old / "run.json").write_text("[" * 200_000)
    assert lines(old) == [f"{old / 'run.json'}: must be whole JSON"]


def test_a_killed_replacement_leaves_a_file_that_agrees_with_its_digest(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    write_with_digest(file, b"first")
    first = (tmp_path / "run.json.sha256").read_text()
    write_with_digest(file, b"second")
    second = (tmp_path / "run.json.sha256").read_text()
    both = tmp_path / "both"
    both.write_text(first + second)
    digests = read_digests(both)
    assert digests
    assert len(digests["run.json"]) == 2


def test_sha256sum_checks_a_trial_too(tmp_path: Path) -> None:
    (tmp_path / "table.parquet").write_bytes(b"content")
    write_digests(tmp_path)
    check = ["sha256sum", "--check", "--strict", SUMS]
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    (tmp_path / "table.parquet").write_bytes(b"Content")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_a_small_file_is_read_in_little_memory_whatever_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "small"
    file.write_bytes(b"x" * 10)
    assert read_plain(file, 1 << 50) == b"x" * 10


@pytest.mark.parametrize("table", TABLES)
def test_a_trial_with_any_table_cut_short_is_not_whole(run: Path, table: str) -> None:
    folder = run / "trials" / "search-001"
    file = folder / f"{table}.parquet"
    assert Trial(folder).is_whole
    file.write_bytes(file.read_bytes()[:-1])
    assert not Trial(folder).is_whole
