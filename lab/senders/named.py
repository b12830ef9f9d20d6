# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders that a command line names: those of the lab, and FILE:CONTROL of a file that a user brings."""

from collections.abc import Iterable, Mapping, Sequence

from lab.base.choice import choose
from lab.base.errors import COMMAND_LINE, field_error
from lab.schema.cca import Cca, load_cca, load_senders, looks
from lab.senders.ways import ways

OF_FILE, FILE = ":", ".yml"  # between a user's file and one of its senders; how such a file's name ends


def resolved(names: Sequence[str]) -> tuple[list[str], Mapping[str, Cca] | None]:
    """Return the names that senders have in a run, and all senders by name; None for those of the lab alone."""
    own = {name: sender(name) for name in names if OF_FILE in name or name.endswith(FILE)}
    if not own:
        return list(names), None
    return [own[name].name if name in own else name for name in names], load_senders() | by_name(own.values())


def sender(name: str, field: str = "cca") -> Cca:
    """Return the sender of a name; UserError where there is none."""
    file, of_file, control = (name, OF_FILE, "") if name.endswith(FILE) else name.rpartition(OF_FILE)
    if not of_file:
        return load_cca(name, COMMAND_LINE, field)
    own = own_senders(file, field)
    return own[choose(f"control of {file}", control, own, COMMAND_LINE, field)]


def own_senders(file: str, field: str = "cca") -> dict[str, Cca]:
    """Return the senders of a user's file by control; UserError where no way of senders reads it."""
    for way in ways():
        if own := way.own(file):
            return own
    rule = "the path of a stack's .yml file, or its name in this folder or in LAB_STACKS"
    raise field_error(COMMAND_LINE, field, file, rule)


def by_name(senders: Iterable[Cca]) -> dict[str, Cca]:
    """Return senders by name, none of which looks like another: those of several files may."""
    found: dict[str, Cca] = {}
    for each in senders:
        if each.name in found:
            raise field_error(COMMAND_LINE, "sender", each.name, "of one file alone: give the other stack another name")
        taken = {other.look for other in found.values()}
        found[each.name] = each.model_copy(update=next(looks(taken))) if each.look in taken else each
    return found
