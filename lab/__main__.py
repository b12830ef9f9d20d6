# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m lab` and the `lab` command."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Run a command; what a user can cause is one line: a mistake or a disk's refusal exits with 2, Ctrl-C with 130."""
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
    _end("interrupted: what was stored is whole; go on with 'lab run --resume'", INTERRUPTED)


def _end(words: str, status: int) -> None:
    print(words, file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
