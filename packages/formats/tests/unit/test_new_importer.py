# SPDX-License-Identifier: GPL-2.0-or-later
"""A format is added as one file in a folder of the user's: recognised, listed, and used by a profile."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from lab_formats import listed, named

from lab.base.errors import UserError
from lab.commands import inventory
from lab.links.faults import cautions
from lab.links.profile import load_profile
from lab.traces import importers
from tests.brief import put

FORMAT = """
from lab_formats.preset import Preset, has_columns

PRESET = Preset(
    name="my-modem",
    reads="CSV of my modem",
    gives="capacity, RTT",
    fits=has_columns("when", "down_kbps", "ping"),
    columns="t_s=when [date], rate_down_mbps=down_kbps [kbit/s], rtt_ms=ping",
    missing={"rtt_ms": ("-",)},
    meaning="capacity",
)
IMPORTERS = (PRESET.importer(),)
"""
PROFILE = """
title: a link of mine
down: {rate_mbps: {file: modem.csv, loop: true}, delay_ms: 10, buffer_bdps: 2}
up: {delay_ms: 10}
recorded: [the rate, by my modem]
assumed: [everything else]
"""


def write_files(folder: Path) -> dict[str, str]:
    """Write a format, a recording in it and a profile; return the environment variables that name their folders."""
    (folder / "formats").mkdir()
    (folder / "profiles").mkdir()
    (folder / "formats/my_modem.py").write_text(FORMAT)
    rows = [f"2024-01-31T12:00:{second:02d},{5000 + second},{'-' if second == 3 else 20}" for second in range(60)]
    (folder / "profiles/modem.csv").write_text("\n".join(["when,down_kbps,ping", *rows, ""]))
    (folder / "profiles/my-link.yml").write_text(PROFILE)
    return {"LAB_IMPORTERS": str(folder / "formats"), "LAB_PROFILES": str(folder / "profiles")}


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder whose `formats` and `profiles` the lab reads in addition to its own."""
    for variable, folder in (write_files(tmp_path) | {"LAB_CACHE": str(tmp_path / "cache")}).items():
        monkeypatch.setenv(variable, folder)
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    """Read the formats again, as a new command does."""
    importers.known_formats.cache_clear()
    importers.digest.cache_clear()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Literal["a", "b"], ("a", "b")),
        (Literal["a", "b"] | None, ("a", "b")),
        (Literal[1, 2], ("1", "2")),
        (tuple[Literal["a", "b"], ...], ()),
        (str | None, ()),
    ],
)
def test_an_option_that_takes_one_word_at_a_time_has_its_words_checked(kind: Any, words: tuple[str, ...]) -> None:
    option = inspect.Parameter("kind", inspect.Parameter.KEYWORD_ONLY, annotation=kind)
    assert importers.choices_of(option) == words


def test_its_files_are_recognised(mine: Path) -> None:
    first, *columns = named.run([mine / "profiles/modem.csv"], None, None, [])
    assert first == "modem.csv: my-modem, series of capacity, 60 rows, 59.000 s"
    assert any(line.startswith("  rtt_ms") and line.endswith("1 missing") for line in columns)


def test_it_is_listed_with_its_options(mine: Path) -> None:
    assert mine.exists()
    table = listed.markdown()
    assert "| `my-modem` | CSV of my modem | capacity, RTT |  |" in table
    assert "| `solis` | seconds and Mb/s, a TAB between, 1 s | goodput | ramp (cut, keep) |" in table


def test_a_profile_uses_it_and_a_changed_file_is_imported_again(mine: Path) -> None:
    assert not [line for line in inventory.check_all() if "my-link" in line]
    assert load_profile("my-link", "test").title == "a link of mine"
    assert len(list((mine / "cache/recordings").glob("recording-*.parquet"))) == 1
    (mine / "formats/my_modem.py").write_text(FORMAT.replace('meaning="capacity"', 'meaning="goodput"'))
    forget()
    (doubt,) = cautions("my-link", load_profile("my-link", "test"))
    assert doubt.startswith("my-link: down.rate_mbps: ")
    assert len(list((mine / "cache/recordings").glob("recording-*.parquet"))) == 2


def test_a_broken_file_is_named(mine: Path) -> None:
    file = put(mine / "formats/my_modem.py", "IMPORTERS = (Importer(),)\n")
    with pytest.raises(UserError, match=rf"^{file}: NameError=.*: must be Python that can be imported$"):
        listed.rows()


STANZA = """
my-modem:
  reads: CSV of my modem
  gives: capacity, RTT
  names: [when, down_kbps, ping]
  columns: t_s=when [date], rate_down_mbps=down_kbps [kbit/s], rtt_ms=ping
  missing: {rtt_ms: ["-"]}
  meaning: capacity
"""


def test_a_stanza_is_a_format_as_the_same_preset_in_python_is(mine: Path) -> None:
    in_python = importers.read(mine / "profiles/modem.csv")
    (mine / "formats/my_modem.py").unlink()
    (mine / "formats/mine.yml").write_text(STANZA)
    forget()
    in_yaml = importers.read(mine / "profiles/modem.csv")
    assert in_yaml.frame.equals(in_python.frame)
    assert in_yaml.about == in_python.about


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("my_modem.py", FORMAT.replace("my-modem", "solis"), "name=solis: must be a name that no other format has"),
        (
            "mine.yml",
            STANZA.replace("  names: [when, down_kbps, ping]\n", ""),
            r"mine\.yml: my-modem.*must be a format with either names or line",
        ),
    ],
)
def test_a_name_of_another_format_and_a_stanza_that_recognises_nothing_are_refused(
    mine: Path, file: str, text: str, line: str
) -> None:
    (mine / "formats" / file).write_text(text)
    with pytest.raises(UserError, match=line):
        listed.rows()
