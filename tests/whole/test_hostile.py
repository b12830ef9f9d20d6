# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad input is refused in its line, and text of others stays text: in an error, LaTeX, Markdown and CSV."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from rich.progress import Progress
from rich.table import Column as RichColumn
from rich.table import Table as RichTable

from lab.base import paths
from lab.base.console import PlainConsole
from lab.base.errors import MOST_CHARS, UserError, field_error
from lab.base.plain_file import MEGABYTE
from lab.commands import cli_trials
from lab.report import latex, markdown, template
from lab.report.table import Group, Row, Table
from lab.runs.options import MOST_WORKERS, RunOptions
from lab.tables.csv_text import plain_cell, to_csv
from lab.tables.kernel_log import STORED
from tests.command import ENOUGH_S, lab, refused, start
from tests.hostile.inputs import INPUTS
from tests.stored_run import store_run


def in_a_process(*words: str) -> "subprocess.CompletedProcess[str]":
    """Run a module that bounds itself: a bomb ends its process, not the tests."""
    return subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def tried() -> dict[str, str | None]:
    """The refusal of each input; the one that ended the process has none."""
    done = in_a_process("tests.hostile.try_corpus")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    found = {line[0]: line[1] for line in lines if len(line) == 2}
    assert done.returncode == 0, f"{lines[-1][0]}: {done.stderr[-2000:]}"
    return found


@pytest.mark.parametrize("one", INPUTS.values(), ids=INPUTS)
def test_a_bad_input_is_refused_in_one_line_per_fault(tried: dict[str, str | None], one: dict[str, Any]) -> None:
    line = tried[one["name"]]
    if not one["refused"]:
        assert line is None
        return
    assert line is not None
    assert one["refused"] in line
    assert all(each.isprintable() and len(each) <= MOST_CHARS + 10 for each in line.split("\n"))


def test_no_field_shows_its_user_a_pattern() -> None:
    folders = (paths.LAB, *paths.REPO.glob("packages/*/lab_*"))
    files = [file for folder in folders for file in folder.rglob("*.py")]
    assert [str(file) for file in files if re.search(r"[(,\s]pattern=", file.read_text())] == []


HOSTILE, ESCAPED = "\x1b[2J\x1b]0;x\x07\x9b1m\u202e", "\\x1b[2J\\x1b]0;x\\x07\\x9b1m\\u202e"
LINES = "a label\n\\input{/etc/passwd}\r% \u2028x"


def table(cell: str) -> Table:
    return Table("t", cell, ("Source", cell), (Group(cell, (Row((cell, cell)),)),), (cell,), cell)


def test_an_error_is_one_printable_line_of_bounded_length_and_a_csv_cell_that_is_no_formula_stays() -> None:
    for words in ("a\nb\0c\ud800", "x" * 100_000):
        for error in (UserError(words), field_error(words, words, words, words)):
            assert str(error).isprintable()
            assert len(str(error)) <= MOST_CHARS + 10
    assert to_csv(pl.DataFrame({"name": ["a=b", "", None]})) == 'name\na=b\n""\n\n'


def test_latex_and_markdown_keep_their_rows_and_have_no_live_command_or_link() -> None:
    for written in (latex.render(table(LINES)), latex.figure_environment("x", "pdf", LINES, across=False)):
        live = [line for line in written.splitlines() if line.lstrip().startswith("\\input")]
        assert live == []
        assert "\\input{/etc" not in written
    written = markdown.render("t", (), (table("[x](javascript:alert(1))\n| y"),))
    rows = [line for line in written.splitlines() if line.startswith("|")]
    assert len(rows) == 3
    assert "[x](" not in written.replace("\\[", "")


@pytest.mark.parametrize(
    ("cell", "plain"),
    [
        *(("=1+1", "'=1+1"), ("+1", "'+1"), ("-x", "'-x"), ("@SUM(A1)", "'@SUM(A1)"), ("\t=1", "\\t=1")),
        *(("a;=1;-x; b-c", "a;'=1;'-x; b-c"), ('a;""=1', 'a;""\'=1'), (HOSTILE, ESCAPED)),
    ],
)
def test_a_csv_cell_is_no_formula_and_has_no_control_characters(cell: str, plain: str) -> None:
    written = list(csv.reader(to_csv(pl.DataFrame({"name": [cell], "number": [-1.5]})).splitlines(keepends=True)))
    assert written[1] == [plain, "-1.5"]
    assert plain_cell(cell) == plain


def test_no_text_of_others_reaches_the_terminal_as_an_escape_sequence() -> None:
    """As a line, as a cell of a table, and as the words of a bar."""
    file = io.StringIO()
    console = PlainConsole(file=file, force_terminal=True, color_system=None, width=100)
    cells = RichTable(HOSTILE)
    cells.add_row(HOSTILE)
    with Progress(console=console) as bar:
        bar.add_task(HOSTILE, total=1)
        console.print(HOSTILE, soft_wrap=True, markup=False)
        console.print(cells)
    console.write_text(f"{HOSTILE}\nthe next line\n")
    assert "\\x1b[2J\\x1b]0;x" in file.getvalue()
    assert all(live not in file.getvalue() for live in ("\x1b[2J", "\x1b]0", "\x9b", "\u202e"))
    assert file.getvalue().endswith("\nthe next line\n")


def test_a_page_shows_control_characters_of_others_as_escapes() -> None:
    page = template.render("sweep.html.j2", title=HOSTILE, question=HOSTILE, pictures=[], tables=[table(HOSTILE)])
    assert ESCAPED in page
    assert all(live not in page for live in ("\x1b", "\x9b", "\u202e"))


@pytest.mark.parametrize("character", ["\n", "\0"])
def test_a_log_that_is_one_character_takes_little_memory_to_show(
    character: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = tmp_path / "trials" / "cubic-001" / STORED
    stored.parent.mkdir(parents=True)
    (tmp_path / "run.json").write_text("{}")
    stored.write_bytes(bytes(pa.compress(character.encode() * 4_000_000, codec="zstd", asbytes=True)))
    monkeypatch.setattr(cli_trials, "console", PlainConsole(file=io.StringIO()))
    tracemalloc.start()
    try:
        cli_trials.log(tmp_path, "cubic-001")
        assert tracemalloc.get_traced_memory()[1] < 150 * MEGABYTE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("columns", [0, 5, 40])
def test_in_a_terminal_of_any_width_no_text_or_column_is_lost(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    console = PlainConsole(file=(file := io.StringIO()))
    cells = RichTable("Sender", *(RichColumn(name, no_wrap=True) for name in ("Chokepoint", "papers' rule", "Mb/s")))
    cells.add_row("CUBIC", "0 of 1", "0 of 1", "87.8")
    console.print("a line", soft_wrap=True)
    console.print(cells)
    assert all(word in file.getvalue() for word in ("a line", "CUBIC", "Chokepoint", "papers' rule", "87.8"))


def test_in_a_locale_of_another_encoding_the_lab_reads_and_prints_utf8(tmp_path: Path) -> None:
    ways = [{"LC_ALL": "C.UTF-8"}, {"LC_ALL": "C"}, {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "ascii"}]
    begun = [start(tmp_path, "traces", "list", PYTHONUTF8="0", **way) for way in ways]
    usual, *others = [process.communicate(timeout=ENOUGH_S) for process in begun]
    assert [process.returncode for process in begun] == [0, 0, 0]
    assert not usual[0].isascii()
    assert usual[1] == ""
    assert others == [usual, usual]


def test_a_variable_of_python_or_a_library_ends_no_command_in_many_lines(tmp_path: Path) -> None:
    figure = ("figure", "exit_times", "--run", str(store_run(tmp_path / "run")), "--out", str(tmp_path / "figure"))
    prompt = start(tmp_path, "report", str(tmp_path / "none"), PYTHONINSPECT="1")
    drawn = start(tmp_path, *figure, MPLBACKEND="nonsense", HOME="/dev/null")
    done = lab(tmp_path, "list", POLARS_MAX_THREADS="0")
    assert refused(done) == "environment: POLARS_MAX_THREADS=0: must be 1 or more, or not set"
    assert (prompt.communicate(timeout=ENOUGH_S)[1].count("\n"), prompt.returncode) == (1, 2)
    assert (drawn.communicate(timeout=ENOUGH_S)[1], drawn.returncode) == ("", 0)


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("ulimit -n 20", "environment: ulimit -n=20: must be 256 or more, or unlimited\n"),
        ("ulimit -s 512", "environment: ulimit -s=512: must be 1024 or more, or unlimited\n"),
        ("ulimit -v 500000", "environment: ulimit -v=500000: must be 2097152 or more, or unlimited\n"),
        ("umask 777", "environment: umask=777: must be one that leaves your own rights, such as 022 or 077\n"),
        ("export COLUMNS=9999999", "environment: COLUMNS=9999999: must be at most 4 digits, or not set\n"),
        ("export LINES=²", "environment: LINES=²: must be at most 4 digits, or not set\n"),
        ("exec 2>&-", ""),  # and not among the answers
    ],
)
def test_a_shell_that_leaves_a_command_too_little_gets_a_line_or_none(before: str, line: str) -> None:
    words = ["bash", "-c", f'{before}; exec "$@"', "bash", sys.executable, "-m", "lab", "report", "/nothing"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)


@pytest.mark.parametrize("columns", ["0", "20"])
def test_help_is_whole_where_a_terminal_states_hardly_any_columns(columns: str, tmp_path: Path) -> None:
    help_of = [lab(tmp_path, "list", "--help", COLUMNS=each).stdout for each in (columns, "60")]
    assert help_of[0] == help_of[1] != ""


def test_a_kernel_under_test_needs_pending_signals_and_a_report_none(tmp_path: Path) -> None:
    begin = ["bash", "-c", 'ulimit -i 20; exec "$@"', "bash", sys.executable, "-m", "lab"]
    words = {"run": ["run", "engines-agree"], "report": ["report", str(store_run(tmp_path))]}
    own = os.environ | {"LAB_RESULTS": str(tmp_path)}
    done = {
        name: subprocess.run([*begin, *each], env=own, capture_output=True, text=True, check=False)
        for name, each in words.items()
    }
    assert done["run"].stderr == "environment: ulimit -i=20: must be 256 or more, or unlimited\n"
    assert (done["run"].returncode, done["report"].returncode, done["report"].stderr) == (2, 0, "")


@pytest.mark.parametrize("command", ["--version", "--help", "list"])
def test_where_standard_output_is_full_one_line_names_it(command: str) -> None:
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "lab", command]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "standard output: No space left on device\n")


@pytest.mark.parametrize("workers", [0, -1, MOST_WORKERS + 1, 10**23])
def test_a_number_of_workers_that_no_machine_has_is_refused(workers: int) -> None:
    with pytest.raises(UserError, match=rf"^command line: jobs={workers}: must be 1 to {MOST_WORKERS}$"):
        RunOptions(workers)
    assert [RunOptions(most).workers for most in (1, MOST_WORKERS)] == [1, MOST_WORKERS]


def test_what_is_usual_unless_it_is_requested_otherwise() -> None:
    assert (RunOptions().keep_capture, RunOptions().scheduler) == (True, None)
    assert "table*" in latex.render(table("x"))  # for a whole page
    assert "table*" not in latex.render(table("x"), column=True)


FAILING = """
import os, tempfile
from lab import __main__
from lab.commands import cli

def gone():
    os.chdir(folder := tempfile.mkdtemp())
    os.rmdir(folder)
    os.getcwd()

def full():
    raise MemoryError

cli.app = lambda **_: {}()
__main__.main()
"""


@pytest.mark.parametrize(
    ("what", "line"), [("gone", "current folder: No such file or directory\n"), ("full", "memory: none left\n")]
)
def test_what_the_machine_does_not_have_is_named_in_one_line(what: str, line: str) -> None:
    done = subprocess.run([sys.executable, "-c", FAILING.format(what)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, line)
