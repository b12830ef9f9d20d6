# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m lab` and the `lab` command."""

import gc
import os
import signal
import sys
from contextlib import suppress
from types import FrameType

INTERRUPTED = 130
IMPORT = "<frozen importlib"  # how the file names of Python's own import begin
PRESSED_AGAIN_S = 0.01
AGAIN = "run the command again"
UTF8 = "PYTHONUTF8"
LINK_LOOP = "Symlink loop"  # pathlib's, up to Python 3.12, where a path is resolved


def _press(_number: int, frame: FrameType | None) -> None:
    """Break off; as soon as nothing is imported: extension modules lose what is raised while they are loaded."""
    while frame and not frame.f_code.co_filename.startswith(IMPORT):
        frame = frame.f_back
    if frame is None:
        raise KeyboardInterrupt
    signal.setitimer(signal.ITIMER_REAL, PRESSED_AGAIN_S)


def _catch_ctrl_c() -> None:
    """Take Ctrl-C from here on; scripts/lab has it wait until now."""
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:  # not where it is ignored, as below nohup
        signal.signal(signal.SIGINT, _press)
        signal.signal(signal.SIGALRM, _press)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def main() -> None:
    """Run a command; an error that a user can cause is one line and exit status 2."""
    from lab.base.errors import Interrupted, UserError, one_line

    try:
        gc.disable()  # what is imported is no garbage: to look for it takes a tenth of the start
        from lab.commands.cli import app

        gc.freeze()
        gc.enable()
        app(prog_name="lab")
    except UserError as error:
        _end(str(error), 2)
    except OSError as error:
        _end(one_line(f"{error.filename or 'disk'}: {error.strerror or error}"), 2)
    except Interrupted as interrupted:
        _end(_words(f"go on with '{interrupted}'"), INTERRUPTED)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer has caught it already
            _end(_words(AGAIN), INTERRUPTED)
        raise
    except RuntimeError as error:
        if str(error).startswith(LINK_LOOP):
            _end(one_line(f"{error}: must be no link to itself"), 2)
        raise


def _words(then: str) -> str:
    return f"interrupted: stored trials are whole; {then}"


def _end(message: str, status: int) -> None:
    with suppress(OSError):  # the terminal may be gone
        print(message, file=sys.stderr)
    sys.exit(status)


def _read_utf8() -> None:
    """Begin again where the locale has another encoding: what the lab reads, writes and prints is UTF-8."""
    if sys.getfilesystemencoding() != "utf-8" and os.environ.get(UTF8) != "1":
        os.environ[UTF8] = "1"
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606


def command() -> None:
    """Run the `lab` command of the environment (pyproject.toml)."""
    _read_utf8()
    try:
        _catch_ctrl_c()
        main()
    except KeyboardInterrupt:
        _end(_words(AGAIN), INTERRUPTED)


if __name__ == "__main__":
    command()
