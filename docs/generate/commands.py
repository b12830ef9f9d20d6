# SPDX-License-Identifier: GPL-2.0-or-later
"""The command reference, from the command line itself."""

from collections.abc import Iterator
from typing import Any

import typer.main

from lab.commands.cli import app

HEAD = """# Commands

`scripts/lab` is the command of a checkout; `scripts/lab COMMAND --help` prints what stands here. An error that a user
can cause is one line, and the exit status is 2. Ctrl-C ends with 130; what was stored by then is whole.

"""


def page() -> str:
    """Write the page as Markdown."""
    return HEAD + "\n".join(_commands(typer.main.get_command(app), "lab"))


def _commands(command: Any, name: str) -> Iterator[str]:
    members = getattr(command, "commands", None)
    if members is None:
        yield from _command(command, name)
        return
    if name != "lab":
        yield f"## {name}\n\n{_text(command.help)}\n"
    for own, member in sorted(members.items(), key=lambda item: hasattr(item[1], "commands")):
        yield from _commands(member, f"{name} {own}")


def _command(command: Any, name: str) -> Iterator[str]:
    level = "##" if name.count(" ") == 1 else "###"
    text, _, example = _text(command.help).partition("Example:")
    yield f"{level} {name}\n\n{text.strip()}\n"
    if example:
        yield f"    {example.strip().strip('`.').strip('`')}\n"
    rows = [_row(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)]
    if rows:
        yield "\n".join(["| argument or option | default | meaning |", "|---|---|---|", *rows]) + "\n"


def _row(parameter: Any) -> str:
    is_option = parameter.param_type_name == "option"
    flag = getattr(parameter, "is_flag", False)
    names = (
        " ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
        if is_option
        else f"`{parameter.name.upper()}`"
    )
    default = parameter.default
    shown = "" if flag or default is None or callable(default) or default == () else f"`{default}`"
    kind = "" if flag or not is_option else f" {parameter.type_descriptor.annotation.__name__.upper()}"
    needed = "required" if parameter.required else shown
    return f"| {names}{kind} | {needed} | {_cell(getattr(parameter, 'help', ''))} |"


def _text(text: str | None) -> str:
    return " ".join((text or "").replace("\b", "").split())


def _cell(text: str | None) -> str:
    return _text(text).replace("|", "\\|")
