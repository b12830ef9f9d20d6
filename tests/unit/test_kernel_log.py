# SPDX-License-Identifier: GPL-2.0-or-later
"""The stored log of a trial's kernel: what it keeps, and what it refuses in one line."""

from pathlib import Path

import pytest

from lab.base.errors import UserError
from lab.tables.kernel_log import INIT, RAW, STORED, forget_failed_log, keep_failed_log, keep_log, read_log

AFTER = INIT.encode() + b"\nsearch: leaves at 12 of 34\n"


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    folder = tmp_path / "trials" / "cubic-001"
    folder.mkdir(parents=True)
    return folder


def kept(trial: Path, raw: bytes) -> str:
    (trial / RAW).write_bytes(raw)
    keep_log(trial)
    return read_log(trial.parent.parent, trial.name)


def test_a_log_begins_with_init_or_is_kept_whole_and_a_damaged_one_is_one_line(trial: Path) -> None:
    keep_log(trial)  # of a backend without a log
    assert not list(trial.iterdir())
    assert kept(trial, b"mem at 0x6000\n" + AFTER) == AFTER.decode()
    assert kept(trial, b"a machine's own log\nits end") == "a machine's own log\nits end"
    (trial / STORED).write_bytes(b"no zstd")
    with pytest.raises(UserError, match=f"{STORED}: must be a whole zstd file"):
        read_log(trial.parent.parent, trial.name)


def test_the_log_of_a_failure_is_read_first_and_whole_until_it_is_forgotten(trial: Path) -> None:
    run = trial.parent.parent
    kept(trial, AFTER)
    draft = run / "draft"
    draft.mkdir()
    keep_failed_log(draft, run, trial.name)
    assert read_log(run, trial.name) == AFTER.decode()
    (draft / RAW).write_bytes(b"before\n" + AFTER)
    keep_failed_log(draft, run, trial.name)
    assert read_log(run, trial.name) == f"before\n{AFTER.decode()}"
    forget_failed_log(run, trial.name)
    assert read_log(run, trial.name) == AFTER.decode()


@pytest.mark.parametrize("name", ["", ".hidden", "../trials/cubic-001"])
def test_what_is_no_trials_name_is_refused(trial: Path, name: str) -> None:
    kept(trial, AFTER)
    with pytest.raises(UserError, match="must be a trial's name"):
        read_log(trial.parent.parent, name)


def test_a_trial_without_a_log_is_refused_with_the_names_of_those_that_have_one(trial: Path) -> None:
    kept(trial, AFTER)
    with pytest.raises(UserError, match=r"must be one with a stored log: did you mean cubic-001[?]$"):
        read_log(trial.parent.parent, "cubic-002")
    (trial / STORED).unlink()
    with pytest.raises(UserError, match=r"must be one with a stored log: none is stored$"):
        read_log(trial.parent.parent, "cubic-002")
