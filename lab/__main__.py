# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m lab` and the `lab` command."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Run a command; an error that a user can cause is one line: exit status 2, or 130 after Ctrl-C."""
    from lab.base.errors import UserError

    try:
        from lab.commands.cli import app

        app()
    except UserError as error:
        _end(str(error), 2)
    except OSError as error:
        _end(f"{error.filename or 'disk'}: {error.strerror}", 2)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer has caught it already
            _interrupted()
        raise
    except KeyboardInterrupt:
        _interrupted()


def _interrupted() -> None:
    _end("interrupted: stored trials are whole; go on with 'lab run --resume'", INTERRUPTED)


def _end(message: str, status: int) -> None:
    print(message, file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
