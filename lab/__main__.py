# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m lab` and the `lab` command."""

import gc
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from lab.base.ctrl_c import pressed

INTERRUPTED = 130
AGAIN = "run the command again"
LINK_LOOP = "Symlink loop"  # pathlib's, up to Python 3.12, where a path is resolved


def _press(_number: int, _frame: FrameType | None) -> NoReturn:
    pressed.set()
    raise KeyboardInterrupt


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    """End before anything was begun: what Python is importing then would print a traceback."""
    os.write(2, f"{_words(AGAIN)}\n".encode())
    os._exit(INTERRUPTED)


def _catch_ctrl_c() -> None:
    """Take Ctrl-C from here on; scripts/lab has it wait until now."""
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:  # not where it is ignored, as below nohup
        signal.signal(signal.SIGINT, _leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def main() -> None:
    """Run a command; an error that a user can cause is one line: exit status 2, or 130 after Ctrl-C."""
    from lab.base.errors import Interrupted, UserError, one_line

    try:
        gc.disable()  # what is imported is no garbage: to look for it takes a tenth of the start
        from lab.commands.cli import app

        gc.freeze()
        gc.enable()
        if signal.getsignal(signal.SIGINT) == _leave:
            signal.signal(signal.SIGINT, _press)
        app(prog_name="lab")
    except UserError as error:
        _end(str(error), 2)
    except OSError as error:
        _end(one_line(f"{error.filename or 'disk'}: {error.strerror}"), 2)
    except Interrupted as interrupted:
        _end(_words(f"go on with '{interrupted}'"), INTERRUPTED)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer has caught it already
            _end(_words(AGAIN), INTERRUPTED)
        raise
    except KeyboardInterrupt:
        _end(_words(AGAIN), INTERRUPTED)
    except Exception as error:
        if pressed.is_set():
            _end(_words(AGAIN), INTERRUPTED)
        if isinstance(error, RuntimeError) and str(error).startswith(LINK_LOOP):
            _end(one_line(f"{error}: must be no link to itself"), 2)
        raise


def _words(then: str) -> str:
    return f"interrupted: stored trials are whole; {then}"


def _end(message: str, status: int) -> None:
    print(message, file=sys.stderr)
    sys.exit(status)


def command() -> None:
    """Run the `lab` command of the environment (pyproject.toml)."""
    _catch_ctrl_c()
    main()


if __name__ == "__main__":
    command()
