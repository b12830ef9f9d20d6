# SPDX-License-Identifier: GPL-2.0-or-later
"""The `lab` command: each command reads its arguments and calls one function.

A file of commands is one group; the order of the groups, and of the commands in each, is that of `lab --help`.
"""

import typer

from lab.commands import box, bundle, cca, cli_inventory, cli_machine, cli_results, cli_trials, senders
from lab.commands.traces import traces_app

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="An emulation lab for one question: does a sender leave slow start at the right moment?",
)
NAMED = {
    "kernel": cli_machine.kernel_app,
    "traces": traces_app,
    "cca": cca.app,
    "senders": senders.app,
    "box": box.app,
    "image": box.image_app,
    "bundle": bundle.app,
}
for commands in (cli_inventory, cli_trials, cli_results, cli_machine):
    app.add_typer(commands.app)
for name, group in NAMED.items():
    app.add_typer(group, name=name)
