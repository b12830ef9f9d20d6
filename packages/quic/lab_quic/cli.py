# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab senders fetch`: what senders over QUIC are built of."""

from pathlib import Path
from typing import Annotated

import typer

from lab.base.console import PlainConsole
from lab.base.errors import COMMAND_LINE

console = PlainConsole()


def fetch(
    name: Annotated[str, typer.Argument(help="quinn: the crates of the senders over QUIC.")],
    mirror: Annotated[Path | None, typer.Option(help="A folder with the files, instead of their origins.")] = None,
) -> None:
    """Fetch and verify the crates of the senders over QUIC, each under a licence of its own.

    Example: `lab senders fetch quinn`
    """
    from lab_formats.fetching.candidates import Mirror

    from lab.base.errors import field_error
    from lab_quic.quinn import crates

    if name != crates.NAME:
        raise field_error(COMMAND_LINE, "name", name, crates.NAME)
    console.print(crates.fetch(Mirror(mirror) if mirror else None), soft_wrap=True, markup=False)
