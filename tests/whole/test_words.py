# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of a command line that would pass for something else are refused: empty ones, and values that are replaced."""

import os

import pytest

from lab.base import paths
from lab.base.errors import UserError
from lab.commands.cli import app


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        (["compare", "--cca", "search,cubic", "--links", ""], "links=: must be some text, or left out"),
        (["compare", "--cca", "search,cubic", "--links="], "links=: must be some text, or left out"),
        (["race", "search,cubic", "--links", " "], "links=: must be some text, or left out"),
        (["break", ""], "argument=: must be some text, or left out"),
        (["bundle", "make", ""], "argument=: must be some text, or left out"),
        (["compare", "--cca", "search,cubic", "--links", "geo", "--links=leo"], "--links: must be given once"),
        (["traces", "show", "mine.csv", "--format", "a", "--format", "b"], "--format: must be given once"),
    ],
)
def test_a_word_that_would_pass_for_another_is_refused(line: list[str], refusal: str) -> None:
    with pytest.raises(UserError) as refused:
        app(line)
    assert str(refused.value) == f"command line: {refusal}"


@pytest.mark.parametrize("line", [["--set", "scale=2", "--set", "skip=1"], ["--set=scale="]])
def test_an_option_that_may_be_repeated_may_and_a_value_may_end_in_a_sign(line: list[str]) -> None:
    with pytest.raises(UserError, match=r"^nothing: must be a file, or a recording"):
        app(["traces", "show", "nothing", *line])


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        (["bundle", "make", "/"], "/: must be a file in a folder that is there"),
        (["bundle", "make", "nowhere/lab.bundle"], "nowhere/lab.bundle: must be a file in a folder that is there"),
        (["page", "nowhere"], "nowhere: must be the folder of all results"),
        (["break", "cubic,bbr"], "command line: sender=cubic,bbr: must be one sender, or one path"),
        (
            ["break", "./stack.yml"],
            "command line: sender=./stack.yml: must be a sender's name, a C file or its folder: stacks of your own run "
            "in lab try",
        ),
    ],
)
def test_a_path_or_a_name_that_a_command_cannot_use_is_refused_before_it_begins(line: list[str], refusal: str) -> None:
    with pytest.raises(UserError) as refused:
        app(line)
    assert str(refused.value) == refusal


NO_UTF8 = os.fsdecode(b"a\xff")


@pytest.mark.parametrize("line", [["report", NO_UTF8], ["run", f"{NO_UTF8}/mine.yml"], ["page", "--help", NO_UTF8]])
def test_a_path_that_is_no_utf8_is_refused_before_anything_runs(line: list[str]) -> None:
    with pytest.raises(UserError, match=r"^command line: argument='a\\udcff.*': must be UTF-8 text$"):
        app(line)


@pytest.mark.parametrize("name", ["LAB_RESULTS", "LAB_CACHE", "TMPDIR", "HOME", "PWD"])
def test_a_place_that_is_no_utf8_is_refused_before_anything_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, f"/{NO_UTF8}")
    with pytest.raises(UserError, match=rf"^environment: {name}='/a\\udcff': must be UTF-8 text$"):
        app(["list"])


def test_an_empty_home_puts_no_cache_into_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LAB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "")
    with pytest.raises(
        UserError, match=r"^environment: HOME=: must be a folder.s whole path, or LAB_CACHE must name a folder$"
    ):
        paths.cache()
    monkeypatch.setenv("LAB_CACHE", "/nowhere")
    assert str(paths.cache()) == "/nowhere"
