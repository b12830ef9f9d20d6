# SPDX-License-Identifier: GPL-2.0-or-later
"""A name that is not known: the refusal names at most five that are near, before anything heavy is loaded."""

import subprocess

import pytest

from lab.base.choice import choose, suggested
from lab.base.errors import UserError
from lab.base.named_files import kernel_senders
from lab.base.paths import REPO
from lab.runs.link_kinds import KINDS
from lab.schema.cca import load_ccas

HEAVY = ("polars", "scipy", "matplotlib", "numpy")
PROGRAM = f"""
import atexit, sys
atexit.register(lambda: print(sorted(set(sys.modules) & set({HEAVY!r}))))
from lab.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("name", "known", "words"),
    [
        ("goe", KINDS, "did you mean geo?"),
        ("wifi", KINDS, "did you mean wifi-low or wifi-high?"),
        ("Cubci", ("bbr", "cubic"), "did you mean cubic?"),
        ("x", ("a", "b"), "a, b"),
        ("x" * 10**6, ("a", "b"), "a, b"),
        ("x", tuple("abcdefg"), "a, b, c, d, e, and 2 more"),
        ("", ("a", "b"), "a, b"),
        ("path", [f"path{number}" for number in range(9)], "did you mean path8, path7, path6, path5 or path4?"),
    ],
)
def test_near_names_are_suggested(name: str, known: tuple[str, ...], words: str) -> None:
    assert suggested(name, known) == words


def test_a_known_name_is_returned_another_refused_and_senders_are_their_stanzas() -> None:
    assert choose("kind", "geo", KINDS, "file", "link") == "geo"
    with pytest.raises(UserError, match=r"^file: link=gio: must be a known kind: did you mean geo\?$"):
        choose("kind", "gio", KINDS, "file", "link")
    assert kernel_senders() == list(load_ccas())


@pytest.mark.parametrize(
    "words",
    [
        "run nosuch",
        "run --profile nosuch --cca cubic",
        "run --profile geo-viasat --cca nosuch",
        "compare --cca cubic,nosuch",
        "compare --cca cubic,bbr --links nosuch",
        "try own.c --links nosuch",
        "reproduce nosuch",
        "verify nosuch",
        "report /nowhere",
    ],
)
def test_a_wrong_name_is_refused_before_anything_heavy_is_loaded(words: str) -> None:
    command = [str(REPO / "scripts" / "python"), "-c", PROGRAM, *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stdout == "[]\n"
