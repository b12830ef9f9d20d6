# SPDX-License-Identifier: GPL-2.0-or-later
"""What was stored is read as it was stored, or named in one line as damaged; JSON has one value per member."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.base import plain_file, strict_json
from lab.base.errors import UserError
from lab.base.paths import REPO
from lab.base.plain_file import content_of, read_plain, write_whole
from lab.judge.judged import OUTCOMES, judged
from lab.tables.digests import SUMS, read_digests, write_digests, write_with_digest
from lab.tables.stored_run import Run
from lab.tables.stored_trial import TABLES, Trial
from tests.brief import few_bytes_per_file, put
from tests.examples import examples
from tests.stored_run import sign

FIXTURE = REPO / "tests" / "data" / "stored" / "format-2"
FLIPS = 600
OF_RUN = ("run.json", "run.json.sha256")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURE, tmp_path / "stored" / "format-2"))


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


def edit(file: Path, change: Callable[[Any], object], signed: bool = False) -> None:
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content, indent=1))
    if signed:
        sign(file)


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


def test_a_run_of_this_release_is_read() -> None:
    stored = Run(FIXTURE)
    (trial,) = stored.trials
    assert (trial.cca, trial.number, trial.valid, stored.complete) == ("search", 1, True, True)
    assert (trial.packets.height, trial.acks.height) == (303, 71)


@pytest.mark.parametrize("file", ["run.json.sha256", f"trials/search-001/{SUMS}"])
def test_what_was_stored_before_there_were_digests_is_refused_in_one_line(run: Path, file: str) -> None:
    (run / file).unlink()
    (line,) = lines(run)
    assert line.startswith(f"{run / file}: must be there: no release of the lab stored files without digests")


@pytest.mark.parametrize("version", [1, 99, None])
@pytest.mark.parametrize("file", ["run.json", "trials/search-001/trial.json"])
def test_another_format_is_refused_in_one_line(run: Path, file: str, version: int | None) -> None:
    edit(run / file, lambda content: content.update(format=version), signed=True)
    (line,) = lines(run)
    assert line.startswith(f"{run / file}: format={version}: must be 2: another version of the lab stored it")


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
    run: Path, file: str, change: Callable[[Any], object]
) -> None:
    edit(run / file, change, signed=True)
    (line,) = lines(run)
    assert line.startswith(f"{run / file}: ")
    assert len(line.splitlines()) == 1
    assert len(line) < 1000


def test_deeply_nested_json_is_one_line(run: Path) -> None:
    (run / "run.json").write_text("[" * 200_000)
    sign(run / "run.json")
    assert lines(run) == [f"{run / 'run.json'}: must be whole JSON"]


def test_a_killed_replacement_leaves_a_file_that_agrees_with_its_digest(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    write_with_digest(file, b"first")
    first = (tmp_path / "run.json.sha256").read_text()
    write_with_digest(file, b"second")
    second = (tmp_path / "run.json.sha256").read_text()
    both = put(tmp_path / "both", first + second)
    digests = read_digests(both)
    assert len(digests["run.json"]) == 2


def test_sha256sum_checks_a_trial_too_and_a_small_file_is_read_in_little_memory(tmp_path: Path) -> None:
    (tmp_path / "table.parquet").write_bytes(b"content")
    write_digests(tmp_path)
    check = ["sha256sum", "--check", "--strict", SUMS]
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    (tmp_path / "table.parquet").write_bytes(b"Content")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == 1
    file = tmp_path / "small"
    file.write_bytes(b"x" * 10)
    assert read_plain(file, 1 << 50) == b"x" * 10


def test_two_writers_of_a_file_at_once_leave_one_of_their_contents_and_no_draft(tmp_path: Path) -> None:
    file = tmp_path / "file"

    class Slow(str):
        def encode(self, *_: object) -> bytes:  # another one writes the file while this one's draft is open
            write_whole(file, "second")
            return b"first"

    write_whole(file, Slow())
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("file", "first")]


@pytest.mark.parametrize("nameless", [True, False])
def test_a_killed_writer_leaves_nothing_or_a_draft_that_is_no_content_of_its_folder(
    nameless: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not nameless:  # as on a disk that has no files without a name
        monkeypatch.setattr(plain_file, "_nameless", lambda _folder: None)

    class Killed(str):
        def encode(self, *_: object) -> bytes:
            os._exit(0)

    if (writer := os.fork()) == 0:
        write_whole(tmp_path / "file", Killed())
    os.waitpid(writer, 0)
    assert len(list(tmp_path.iterdir())) == (not nameless)
    other = put(tmp_path / "other", "content")
    assert content_of(tmp_path) == [other]
    write_digests(tmp_path)
    assert read_digests(tmp_path / SUMS).keys() == {"other"}


def test_a_disk_without_links_takes_a_file_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", lambda *_, **__: Path("no links").stat())
    file = put(tmp_path / "file", "the one before")
    assert write_whole(file, "content").read_text() == "content"
    assert list(tmp_path.iterdir()) == [file]


def test_an_error_of_writing_names_the_file_and_leaves_none(tmp_path: Path) -> None:
    with few_bytes_per_file(10), pytest.raises(OSError, match=re.escape(f"'{tmp_path / 'file'}'")):
        write_whole(tmp_path / "file", "x" * 100)
    with pytest.raises(FileNotFoundError, match=re.escape(f"'{tmp_path / 'none' / 'file'}'")):
        write_whole(tmp_path / "none" / "file", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("table", TABLES)
def test_a_trial_with_any_table_cut_short_is_not_whole(run: Path, table: str) -> None:
    folder = run / "trials" / "search-001"
    file = folder / f"{table}.parquet"
    assert Trial(folder).is_whole
    file.write_bytes(file.read_bytes()[:-1])
    assert not Trial(folder).is_whole


def test_each_member_has_one_value_and_one_that_stands_twice_among_many_is_found_at_once() -> None:
    assert strict_json.loads('{"a": {"b": 1}, "b": [2]}') == {"a": {"b": 1}, "b": [2]}
    names = ", ".join(f'"{number}": 0' for number in [*range(200_000), 199_999])
    with pytest.raises(json.JSONDecodeError, match="'199999' stands twice in one object"):
        strict_json.loads(f"{{{names}}}")


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 2, "a": 3}}]', '{"a": 1', ""])
def test_a_member_that_stands_twice_is_refused_as_broken_json_is(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        strict_json.loads(text)
