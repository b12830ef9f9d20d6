# SPDX-License-Identifier: GPL-2.0-or-later
"""The C of the modules is clean for the kernel's own checkers, and its own tests pass inside the virtual kernel."""

from pathlib import Path

import pytest

from bench import lint_c
from lab.backends import boot
from lab.backends.boot import Called
from lab.images.image import Image
from lab.kernel import build
from lab.kernel.build import Kernel
from tests.brief import folder_at
from tests.conftest import recipe_under_test
from tests.guest.modules import load_suites
from tests.ktap import read_ktap

BAD = """// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/module.h>
#include <linux/uaccess.h>

static int __init bad_init(void)
{
	int unused;
	char __user *p = NULL;
	char *q = p;

	unused = 1;
	return q != NULL;
}
module_init(bad_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A module that every checker dislikes");
"""


def test_neither_checkpatch_nor_gcc_nor_sparse_has_a_complaint(kernel: Kernel) -> None:
    assert lint_c.checkpatch(kernel) == []
    assert lint_c.compilers(kernel) == []


def test_a_complaint_of_each_checker_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: Kernel) -> None:
    folder = folder_at(tmp_path / "bad")
    (folder / "Kbuild").write_text("obj-m := bad.o\n")
    (folder / "bad.c").write_text(BAD.replace("= p;", "= p; "))
    monkeypatch.setattr(build, "MODULES", (folder,))
    assert any("trailing whitespace" in line for line in lint_c.checkpatch(kernel))
    printed = "\n".join(lint_c.compilers(kernel))
    assert "set but not used" in printed  # gcc with W=1
    if not recipe_under_test().version.startswith("7."):  # they refuse Debian 13's sparse: it is too old
        assert "different address spaces" in printed


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Called:
    return boot.call(load_suites, {}, tmp_path_factory.mktemp("kunit"), kernel, world.root)


def test_every_suite_of_the_modules_ran_and_every_case_passed(loaded: Called) -> None:
    reported = {f"{case.suite.split('.')[0]}_kunit" for case in read_ktap(loaded.log)}  # 6.1 names no modules
    assert loaded.result
    assert reported == set(loaded.result)
    cases = read_ktap(loaded.log)
    assert len(cases) >= len(loaded.result)
    assert [case for case in cases if not case.ok] == [], "".join(loaded.log.partition("KTAP version")[1:])
