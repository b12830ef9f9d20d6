# SPDX-License-Identifier: GPL-2.0-or-later
"""The modules' own tests pass inside the virtual kernel, and a test that fails, or does not run, is noticed."""

from pathlib import Path

from tests.ktap import Case, read_ktap

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
