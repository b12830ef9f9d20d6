# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m lab` and the `lab` command."""

import sys

from lab.cli import app
from lab.errors import UserError


def main() -> None:
    """Run a command; a user's mistake is one line and exit status 2, Ctrl-C is 130."""
    try:
        app()
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted: what was stored is whole; go on with 'lab run --resume'", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
