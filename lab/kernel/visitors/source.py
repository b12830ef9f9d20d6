# SPDX-License-Identifier: GPL-2.0-or-later
"""The source of a visitor, which is what was fetched with its edits, and the kernel that it needs."""

from pathlib import Path

from lab.base.errors import field_error
from lab.kernel.own.source import OwnSource
from lab.kernel.recipe import CorePatch, Recipe
from lab.kernel.visitors.fetch import COMMAND_LINE, folder_of, is_fetched
from lab.schema.load import shown
from lab.schema.visitor import Visitor, visitor_files


def require_runnable(name: str, visitor: Visitor) -> None:
    """Refuse a visitor that the lab does not build, or whose code is not there."""
    if visitor.needs:
        raise field_error(COMMAND_LINE, "cca", name, f"a visitor that the lab builds: needs {visitor.needs}")
    if not is_fetched(name, visitor):
        raise field_error(COMMAND_LINE, "cca", name, f"fetched: run 'lab senders fetch {name}'")


def visitor_source(name: str, visitor: Visitor) -> OwnSource:
    """Return the edited files of a fetched visitor, to build like a user's own module."""
    folder, module = folder_of(name, visitor), Path(visitor.module_file)
    files = {file: content for file, content in _content(name, visitor).items() if file.endswith((".c", ".h"))}
    return OwnSource(folder / module, folder, name, {**files, "Kbuild": f"obj-m := {module.stem}.o\n".encode()})


def visitor_recipe(name: str, visitor: Visitor) -> Recipe | None:
    """Return the kernel that a fetched visitor needs; none: it runs on any."""
    if visitor.kernel is None:
        return None
    files, where = _content(name, visitor), shown(visitor_files()[name])
    patches = tuple(CorePatch(file, files[file], where) for file in visitor.core_patches)
    return Recipe(visitor.kernel, core_patches=patches)


def require_edits(name: str, visitor: Visitor) -> None:
    """Refuse a fetched visitor whose edits do not fit its files."""
    _content(name, visitor)


def _content(name: str, visitor: Visitor) -> dict[str, bytes]:
    """Return all files of a fetched visitor, with its edits."""
    folder = folder_of(name, visitor)
    content = {file: (folder / file).read_bytes() for file in visitor.files}
    return edited(content, visitor, shown(visitor_files()[name]))


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
