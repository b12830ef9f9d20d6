# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab senders`: commands that packages bring for their senders (lab/commands/packages.py)."""

import typer

app = typer.Typer(
    no_args_is_help=True, help="Crates of the senders over QUIC; and SEARCH as BPF, loaded into the running kernel."
)
