# SPDX-License-Identifier: GPL-2.0-or-later
"""The source of a visitor: what was fetched, with the edits that make it build on the default kernel."""

from pathlib import Path

from lab.base.errors import field_error
from lab.kernel.own.source import OwnSource
from lab.kernel.visitors.fetch import COMMAND_LINE, folder_of, is_fetched
from lab.schema.load import shown
from lab.schema.visitor import Visitor, visitor_files


def require_runnable(name: str, visitor: Visitor) -> None:
    """Refuse a visitor that the default kernel cannot run, or whose code is not there."""
    if visitor.needs:
        raise field_error(
            COMMAND_LINE, "cca", name, f"a visitor that the default kernel can run: needs {visitor.needs}"
        )
    if not is_fetched(name, visitor):
        raise field_error(COMMAND_LINE, "cca", name, f"fetched: run 'lab senders fetch {name}'")


def visitor_source(name: str, visitor: Visitor) -> OwnSource:
    """Return the edited files of a fetched visitor, to build like a user's own module."""
    folder = folder_of(name, visitor)
    content = {file: (folder / file).read_bytes() for file in visitor.files if file.endswith((".c", ".h"))}
    module = Path(visitor.module_file)
    files = edited(content, visitor, shown(visitor_files()[name]))
    return OwnSource(folder / module, folder, name, {**files, "Kbuild": f"obj-m := {module.stem}.o\n".encode()})


def edited(files: dict[str, bytes], visitor: Visitor, where: str) -> dict[str, bytes]:
    """Return files with a visitor's edits; UserError where a text to replace does not stand there exactly once."""
    result = dict(files)
    for number, edit in enumerate(visitor.edits):
        found = result[edit.file].count(edit.find.encode())
        if found != 1:
            rule = f"a text that stands once in {edit.file}, not {found} times"
            raise field_error(where, f"edits.{number}.find", " ".join(edit.find.split()), rule)
        result[edit.file] = result[edit.file].replace(edit.find.encode(), edit.replace.encode())
    return result
