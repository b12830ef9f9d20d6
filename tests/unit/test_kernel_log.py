# SPDX-License-Identifier: GPL-2.0-or-later
"""The stored log of a trial's kernel, and the results of the modules' own tests in it."""

from pathlib import Path

import pytest

from lab.base.errors import UserError
from lab.tables.kernel_log import INIT, RAW, STORED, forget_failed_log, keep_failed_log, keep_log, read_log
from tests.ktap import Case, read_ktap

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


DATA = Path(__file__).parents[1] / "data"


def test_a_failed_case_of_a_real_log_and_one_that_never_ended_are_found() -> None:
    log = (DATA / "kunit-failed.log").read_text()
    assert read_ktap(log) == [
        Case("draft", "draft_passes", True, False),
        Case("draft", "draft_fails", False, False),
        Case("draft", "draft_is_skipped", True, True),
        Case("second", "second_passes", True, False),
    ]
    cut = log[: log.index("    ok 3 draft_is_skipped")]
    assert read_ktap(cut)[-1] == Case("draft", "(no result)", False, False)
    assert read_ktap("ok 1 of something else\nnot ok\n") == []  # without suites


def test_each_parameter_of_a_real_log_s_case_is_a_case_and_so_is_what_they_are_of() -> None:
    cases = read_ktap((DATA / "kunit-parameters.log").read_text())
    inner = [case.name for case in cases if case.suite == "search.search_decides_as_in_user_space"]
    assert (inner[0], len(inner)) == ("search1: flat delivery", 9)
    assert [case.name for case in cases if case.suite == "search"] == [
        "search_decides_as_in_user_space",
        "search_state_fits_where_it_is_kept",
    ]
    assert all(case.ok for case in cases)


def test_a_parameter_that_failed_is_a_failed_case_and_a_crash_loses_what_was_planned_after_it() -> None:
    log = (DATA / "kunit-parameters.log").read_text()
    failed = [case.name for case in read_ktap(log.replace("ok 9 too", "not ok 9 too")) if not case.ok]
    assert failed == ["too few bins"]
    cut = log[: log.index("        ok 5 a clock")]
    assert [case for case in read_ktap(cut) if not case.ok] == [Case("search", "(no result)", False, False)] * 2
