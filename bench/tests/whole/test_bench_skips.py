# SPDX-License-Identifier: GPL-2.0-or-later
"""A skip is a failure unless the list names it with its reason."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench import strict_skips
from bench.strict_skips import Listed, Skip, lines, unlisted
from lab.base.paths import REPO

LISTED = Listed("tests/a.py", "no valgrind", "it is not everywhere")
TWO_SKIPS = """
import pytest

@pytest.mark.skip(reason="known")
def test_one(): ...

def test_two():
    pytest.skip("new")

@pytest.mark.xfail
def test_three():
    assert False
"""


def test_a_listed_file_and_reason_is_allowed() -> None:
    assert not list(unlisted([Skip("tests/a.py::test_one", "no valgrind")], [LISTED]))


@pytest.mark.parametrize(
    "skip", [Skip("tests/a.py::test_one", "no valgrind here"), Skip("tests/b.py::test_one", "no valgrind")]
)
def test_another_reason_or_another_file_is_a_failure(skip: Skip) -> None:
    (line,) = lines(unlisted([skip], [LISTED]), strict=True)
    assert line.startswith(f"{skip.node}: skipped ({skip.reason}): must run, or be listed")


def test_a_row_that_names_tests_allows_no_other_test() -> None:
    only = LISTED._replace(tests=("test_one[a]",))
    first, second = Skip("tests/a.py::test_one[a]", "no valgrind"), Skip("tests/a.py::test_one[b]", "no valgrind")
    assert unlisted([first, second], [only]) == [second]


def test_outside_ci_one_line_counts_what_was_skipped_and_why() -> None:
    skips = [Skip(f"tests/b.py::test_{name}", reason) for name, reason in (("a", "no recording"), ("b", "no browser"))]
    (line,) = lines([*skips, skips[0]], strict=False)
    assert line == "not run: 3 tests or files: 2 as no recording; 1 as no browser (CI=1 requires them)"
    assert lines([], strict=False) == []


def test_each_row_of_the_list_names_a_file_of_tests_and_its_reason() -> None:
    for row in strict_skips.read(strict_skips.LIST):
        assert (REPO / row.file).is_file(), row
        assert row.why


@pytest.mark.parametrize(("options", "status"), [((), 0), (("--strict-skips",), 1)])
def test_a_session_with_a_new_skip_fails_with_one_line_each_or_counts_them_in_one(
    tmp_path: Path, options: tuple[str, ...], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    (tmp_path / "test_skips_of_mine.py").write_text(TWO_SKIPS)
    (tmp_path / "list.toml").write_text('[[skip]]\nfile = "test_skips_of_mine.py"\nreason = "known"\nwhy = "so"\n')
    command = [sys.executable, "-m", "pytest", "-p", "bench.strict_skips", "--skips", "list.toml", *options]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--rootdir", str(tmp_path)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(REPO), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # those of others have no part in it
        capture_output=True,
        text=True,
        check=False,
    )
    found = [line for line in done.stdout.splitlines() if "must run" in line]
    assert done.returncode == status, done.stdout
    assert [line.split(": ")[0] for line in found] == ["test_skips_of_mine.py::test_two"] * status
    assert done.stdout.count("not run: 1 tests or files: 1 as new") == 1 - status
