# SPDX-License-Identifier: GPL-2.0-or-later
"""Stored numbers of trials: whole, or refused in one line."""

from pathlib import Path

import pytest
from lab_break.numbers import Store, crashed

from lab.base.errors import UserError

NUMBERS = crashed("kernel: panic")


def test_numbers_come_back(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write("abcd", NUMBERS)
    assert store.read("abcd") == NUMBERS
    assert store.read("abce") is None


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("panic", "peace", "sha256="),
        ("}}", "}", "must be whole JSON: remove it, and its trial is run again"),
        ('"crash"', '"clash"', "numbers.crash=: must be given"),
    ],
)
def test_damaged_numbers_are_refused(tmp_path: Path, old: str, new: str, line: str) -> None:
    store = Store(tmp_path)
    store.write("abcd", NUMBERS)
    file = store.file("abcd")
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(UserError) as refused:
        store.read("abcd")
    assert line in str(refused.value)
    assert str(file) in str(refused.value)


def test_a_trial_that_two_stores_have_must_be_the_same(tmp_path: Path) -> None:
    own, other = Store(tmp_path / "own"), Store(tmp_path / "other")
    own.write("abcd", NUMBERS)
    other.write("abcd", {**NUMBERS, "packets": "f"})
    with pytest.raises(UserError, match="packets=f: must be None, as stored here"):
        own.require_same("abcd", other)


def test_a_trial_is_taken_once(tmp_path: Path) -> None:
    own, other = Store(tmp_path / "own"), Store(tmp_path / "other")
    other.write("abcd", NUMBERS)
    assert own.take("abcd", other)
    assert not own.take("abcd", other)
    assert own.read("abcd") == NUMBERS
