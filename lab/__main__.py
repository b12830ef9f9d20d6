# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m lab` and the `lab` command."""

import gc
import io
import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import Any

INTERRUPTED = 130
IMPORT = "<frozen importlib"  # how the file names of Python's own import begin
STARTING = "popen_spawn_posix.py"  # multiprocessing's, of which a worker that is half started prints a traceback
AGAIN_S, LOST_S = 0.01, 0.5
ENDINGS = (signal.SIGTERM, signal.SIGHUP)
THEN = "run the command again"
UTF8 = "PYTHONUTF8"
STDOUT = "standard output"
SCREEN, SCREEN_DIGITS = ("COLUMNS", "LINES"), 4  # read when a console is made, as the commands are imported
LINK_LOOP = "Symlink loop"  # pathlib's, up to Python 3.12, where a path is resolved


def _break_off(number: int, frame: FrameType | None) -> None:
    """Break off, so that every block ends as it should; as soon as nothing is imported, and no worker half started.

    Extension modules lose what is raised while they are loaded, and some while they are called. A terminal that is
    closed may send SIGHUP twice.
    """
    while frame and not (name := frame.f_code.co_filename).startswith(IMPORT) and not name.endswith(STARTING):
        frame = frame.f_back
    if frame or number != signal.SIGINT:
        _break_off_later(number, AGAIN_S if frame else LOST_S)
    if number != signal.SIGINT:
        for each in ENDINGS:
            signal.signal(each, signal.SIG_IGN)
    if frame is None:
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


def _break_off_later(number: int, wait_s: float) -> None:
    signal.signal(signal.SIGALRM, lambda _, later: None if _is_ending() else _break_off(number, later))
    signal.setitimer(signal.ITIMER_REAL, wait_s, 0 if number == signal.SIGINT else LOST_S)


def _take_lost(lost: "sys.UnraisableHookArgs") -> None:
    """Break off soon where an extension module, or an object that is deleted, loses what `_break_off` raises."""
    raised = lost.exc_value
    number = raised.code - 128 if isinstance(raised, SystemExit) and isinstance(raised.code, int) else None
    if isinstance(raised, KeyboardInterrupt):
        number = signal.SIGINT
    if number in (signal.SIGINT, *ENDINGS) and threading.current_thread() is threading.main_thread():
        _break_off_later(number, AGAIN_S)
    else:
        sys.__unraisablehook__(lost)


def _is_ending() -> bool:
    """Return whether blocks end of a SystemExit now, whatever else they handle."""
    error = sys.exc_info()[1]
    while error and not isinstance(error, SystemExit):
        error = error.__context__
    return error is not None


class _Output(io.FileIO):
    """Standard output: an error of writing, as of a full disk, names it."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as error:
            error.filename = STDOUT
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())  # nobody reads what else is printed
            raise


def _name_output() -> None:
    """Have errors of standard output name it; one that is closed stays so."""
    if before := sys.stdout:
        written = io.BufferedWriter(_Output(before.fileno(), "w", closefd=False))
        sys.stdout = io.TextIOWrapper(written, before.encoding, before.errors, line_buffering=before.isatty())


def _catch_endings() -> None:
    """Take Ctrl-C, a closed terminal and SIGTERM from here on; scripts/lab has Ctrl-C wait until now."""
    for number in (signal.SIGINT, *ENDINGS):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, _break_off)
    sys.unraisablehook = _take_lost
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def main() -> None:
    """Run a command; an error that a user can cause is one line and exit status 2."""
    from lab.base.errors import Interrupted, UserError, one_line

    try:
        _require_screen()
        gc.disable()  # what is imported is no garbage: to look for it takes a tenth of the start
        from lab.commands.cli import app

        gc.freeze()
        gc.enable()
        app(prog_name="lab")
    except UserError as error:
        _end(str(error), 2)
    except OSError as error:
        where = error.filename or ("current folder" if isinstance(error, FileNotFoundError) else "disk")
        _end(one_line(f"{where}: {error.strerror or error}"), 2)
    except MemoryError as error:
        _end(one_line(f"memory: {str(error) or 'none left'}"), 2)
    except Interrupted as interrupted:
        _end(_words(f"go on with '{interrupted}'"), INTERRUPTED)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer has caught it already
            _end(_words(THEN), INTERRUPTED)
        raise
    except RuntimeError as error:
        if str(error).startswith(LINK_LOOP):
            _end(one_line(f"{error}: must be no link to itself"), 2)
        raise


def _require_screen() -> None:
    """Refuse a size of a terminal that no library takes, or for which tables would be padded with megabytes.

    COLUMNS=0 is what some CI systems set; help has no text in it, and loses words in few columns.
    """
    from lab.base.console import LEAST_CHARS
    from lab.base.errors import field_error

    for name in SCREEN:
        if (size := os.environ.get(name, "")).isdigit() and not (size.isascii() and len(size) <= SCREEN_DIGITS):
            raise field_error("environment", name, size, f"at most {SCREEN_DIGITS} digits, or not set")
    if (columns := os.environ.get("COLUMNS", "")).isdigit():
        os.environ["COLUMNS"] = str(max(int(columns), LEAST_CHARS))


def _words(then: str) -> str:
    return f"interrupted: stored trials are whole; {then}"


def _end(message: str, status: int) -> None:
    with suppress(OSError, AttributeError):  # the terminal may be gone, and was never there where it is closed
        sys.stderr.write(f"{message}\n")
    sys.exit(status)


def _begin_again() -> None:
    """Begin again where Python would end in a prompt, or has another encoding: all of the lab is UTF-8."""
    os.environ.pop("MPLBACKEND", None)  # of a screen, where no figure is drawn: a wrong name would end the command
    of_streams = os.environ.pop("PYTHONIOENCODING", "utf-8").lower().startswith("utf")
    if (
        os.environ.pop("PYTHONINSPECT", "")
        or not of_streams
        or (sys.getfilesystemencoding() != "utf-8" and os.environ.get(UTF8) != "1")
    ):
        os.environ[UTF8] = "1"
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606


def command() -> None:
    """Run the `lab` command of the environment (pyproject.toml)."""
    _begin_again()
    try:
        _catch_endings()
        _name_output()
        main()
    except KeyboardInterrupt:
        _end(_words(THEN), INTERRUPTED)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    command()
