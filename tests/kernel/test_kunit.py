# SPDX-License-Identifier: GPL-2.0-or-later
"""The modules' own tests pass inside the virtual kernel, and a test that fails, or does not run, is noticed."""

import pytest

from lab.backends import boot
from lab.backends.boot import Called
from lab.images.image import Image
from lab.kernel.build import Kernel
from tests.guest import kunit as guest_kunit
from tests.ktap import read_ktap


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Called:
    return boot.call(guest_kunit.load_suites, {}, tmp_path_factory.mktemp("kunit"), kernel, world.root)


def test_every_suite_of_the_modules_ran_and_every_case_passed(loaded: Called) -> None:
    reported = {f"{case.suite.split('.')[0]}_kunit" for case in read_ktap(loaded.log)}  # 6.1 names no modules
    assert loaded.result
    assert reported == set(loaded.result)
    cases = read_ktap(loaded.log)
    assert len(cases) >= len(loaded.result)
    assert [case for case in cases if not case.ok] == [], "".join(loaded.log.partition("KTAP version")[1:])
