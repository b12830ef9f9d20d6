# SPDX-License-Identifier: GPL-2.0-or-later
"""The `lab` command: each command reads its arguments and calls one function."""

import os
import resource
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lab import __version__
from lab.base import paths
from lab.base.commit import commit
from lab.base.entry_points import loaded
from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.base.scratch import fonts_kept
from lab.commands import cli_others, cli_trials, senders
from lab.commands.cli_options import console

# What `lab --help` shows, in this order. Few users need another command: those are hidden there, and in the reference.
SHOWN = {
    "Run and look": ("run", "shell", "try", "compare", "report", "figure", "log", "list"),
    "Repeat the papers": ("reproduce", "verify", "page"),
    "Links": ("traces",),
    "This machine": ("doctor", "kernel", "bundle", "clean"),
}
THREADS = "POLARS_MAX_THREADS"  # a library panics over 0
LEAST = {  # with less, libraries, the kernel under test or its tools end a command in lines of their own
    "ulimit -d": (resource.RLIMIT_DATA, 2 << 20, 10),
    "ulimit -f": (resource.RLIMIT_FSIZE, 2 << 20, 10),
    "ulimit -n": (resource.RLIMIT_NOFILE, 256, 0),
    "ulimit -s": (resource.RLIMIT_STACK, 1 << 10, 10),
    "ulimit -v": (resource.RLIMIT_AS, 2 << 20, 10),
}
OWN = 0o700  # rights that a umask may not take from what a command makes, and reads again
PLACES = ("HOME", "PWD", "TMPDIR", "XDG_CACHE_HOME")
# The panel of each group of entry points, by which packages bring commands; seldom needed ones are hidden.
BROUGHT = {"lab.commands": "Run and look", "lab.commands.teach": "Teach", "lab.commands.seldom": None}
PANELS = {name: panel for panel, names in SHOWN.items() for name in names}


def _require_sound(words: list[str]) -> None:
    """Refuse other text before anything runs: no run.json and no page could hold the path of a file of that name."""
    given = [(COMMAND_LINE, "argument", word) for word in words]
    given += [("environment", *pair) for pair in os.environ.items() if pair[0] in PLACES or pair[0].startswith("LAB_")]
    for where, name, value in given:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise field_error(where, name, value, "UTF-8 text") from None
    if os.pathsep in str(paths.REPO):
        raise UserError(f"{paths.REPO}: must be below folders without '{os.pathsep}': Python takes it for two paths")
    if (threads := os.environ.get(THREADS)) == "0":
        raise field_error("environment", THREADS, threads, "1 or more, or not set")
    for name, (limit, least, unit_bits) in LEAST.items():
        if 0 <= (most := resource.getrlimit(limit)[0] >> unit_bits) < least:
            raise field_error("environment", name, most, f"{least} or more, or unlimited")
    os.umask(mask := os.umask(OWN))
    if mask & OWN:
        raise field_error("environment", "umask", f"{mask:03o}", "one that leaves your own rights, such as 022 or 077")


class Grouped(TyperGroup):
    """The commands in groups, those of no group hidden."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, command in self.commands.items():
            own = getattr(command, "rich_help_panel", None)  # of a package's command; of others typer's placeholder
            panel = PANELS.get(name) or (own if isinstance(own, str) else None)
            command.hidden = panel is None
            command.rich_help_panel = panel  # type: ignore[attr-defined]
        places = [*PANELS, *self.commands]  # the package of a command may not be there
        self.commands = dict(sorted(self.commands.items(), key=lambda named: places.index(named[0])))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an empty word, which would mean a default or this folder, and a value that another one replaces."""
        _require_sound(args)
        command: Any = self
        for before, word in zip(["", *args], args, strict=False):
            name, sign, value = word.partition("=") if word.startswith("--") else (before, "=", word)
            if sign and not value.strip():
                rule = "some text, or left out"
                raise field_error(COMMAND_LINE, name.lstrip("-") if name.startswith("-") else "argument", "", rule)
            command = command.commands.get(word) if isinstance(command, TyperGroup) else command
        given = Counter(word.partition("=")[0] for word in args)
        for option in getattr(command, "params", ()):
            replaced = option.param_type_name == "option" and not (option.is_flag or option.multiple)
            if replaced and sum(given[name] for name in option.opts) > 1:
                raise UserError(f"{COMMAND_LINE}: {option.opts[0]}: must be given once")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command, which may draw."""
        with fonts_kept():
            return super().invoke(ctx)


def _add_commands(app: typer.Typer, groups: Mapping[str, typer.Typer]) -> None:
    """Add each package's commands, a function or a Typer app each.

    `group.name` becomes `lab group name`: several packages may have commands in one of the core's groups.
    """
    for entry_points, shown in BROUGHT.items():
        for name, command in loaded(entry_points).items():
            group, _, own = name.rpartition(".")
            if isinstance(command, typer.Typer):
                app.add_typer(command, name=name, rich_help_panel=shown)
            elif group:
                groups[group].command(own, hidden=shown is None)(command)
            else:
                app.command(name, rich_help_panel=shown)(command)


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown")
TRACES = "Recordings of real links: fetch, list, show and import them."  # each command is of a package
NAMED = {
    "kernel": cli_others.kernel_app,
    "traces": typer.Typer(no_args_is_help=True, help=TRACES),
    "senders": senders.app,
}
for commands in (cli_trials, cli_others):
    app.add_typer(commands.app)
for name, group in NAMED.items():
    app.add_typer(group, name=name)
app.add_typer(senders.app, name="cca", hidden=True)  # as 0.1.0 named them
_add_commands(app, NAMED)


def _version(requested: bool) -> None:
    if requested:
        console.print(f"search-lab {__version__}, commit {commit() or 'unknown'}", markup=False)
        raise typer.Exit


@app.callback(cls=Grouped, no_args_is_help=True, epilog="Seldom needed commands: docs/commands.md.")
def lab(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and the commit.")
    ] = False,
) -> None:
    """An emulation lab for one question: does a sender leave slow start at the right moment?"""  # noqa: D400, D401
