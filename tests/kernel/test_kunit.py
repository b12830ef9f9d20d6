# SPDX-License-Identifier: GPL-2.0-or-later
"""The modules' own tests pass inside the virtual kernel, and a test that fails, or does not run, is noticed."""

from pathlib import Path

import pytest

from lab.backends import boot
from lab.backends.boot import Called
from lab.images.image import Image
from lab.kernel.build import Kernel
from tests.guest import kunit as guest_kunit
from tests.ktap import Case, read_ktap

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Called:
    return boot.call(guest_kunit.load_suites, {}, tmp_path_factory.mktemp("kunit"), kernel, world.root)


def test_every_suite_of_the_modules_ran(loaded: Called) -> None:
    told = {f"{case.suite.split('.')[0]}_kunit" for case in read_ktap(loaded.log)}  # 6.1 names no modules
    assert loaded.result
    assert told == set(loaded.result)


def test_every_case_passed(loaded: Called) -> None:
    cases = read_ktap(loaded.log)
    assert len(cases) >= len(loaded.result)
    assert [case for case in cases if not case.ok] == [], "".join(loaded.log.partition("KTAP version")[1:])


def test_a_failed_case_of_a_real_log_is_found() -> None:
    assert read_ktap((DATA / "kunit-failed.log").read_text()) == [
        Case("draft", "draft_passes", True, False),
        Case("draft", "draft_fails", False, False),
        Case("draft", "draft_is_skipped", True, True),
        Case("second", "second_passes", True, False),
    ]


def test_a_case_that_never_ended_is_a_failed_one() -> None:
    log = (DATA / "kunit-failed.log").read_text()
    cut = log[: log.index("    ok 3 draft_is_skipped")]
    assert read_ktap(cut)[-1] == Case("draft", "(no result)", False, False)


def test_each_parameter_of_a_real_log_s_case_is_a_case_and_so_is_what_they_are_of() -> None:
    cases = read_ktap((DATA / "kunit-parameters.log").read_text())
    inner = [case.name for case in cases if case.suite == "search.search_decides_as_in_user_space"]
    assert (inner[0], len(inner)) == ("search1: flat delivery", 9)
    assert [case.name for case in cases if case.suite == "search"] == [
        "search_decides_as_in_user_space",
        "search_state_fits_where_it_is_kept",
    ]
    assert all(case.ok for case in cases)


def test_a_parameter_that_failed_is_a_failed_case() -> None:
    log = (DATA / "kunit-parameters.log").read_text().replace("ok 9 too", "not ok 9 too")
    assert [case.name for case in read_ktap(log) if not case.ok] == ["too few bins"]


def test_a_crash_among_parameters_loses_what_was_planned_after_it() -> None:
    log = (DATA / "kunit-parameters.log").read_text()
    cut = log[: log.index("        ok 5 a clock")]
    assert [case for case in read_ktap(cut) if not case.ok] == [Case("search", "(no result)", False, False)] * 2


def test_a_log_without_suites_has_no_cases() -> None:
    assert read_ktap("ok 1 of something else\nnot ok\n") == []
