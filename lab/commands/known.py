# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of a command line, refused before a command loads what it needs: that takes a second, this no time."""

from collections.abc import Iterable
from pathlib import Path

from lab.base.choice import choose, names
from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.base.named_files import kernel_senders, profile_files, scenario_files, topology_file


def require_scenarios(given: Iterable[str | None]) -> None:
    """Refuse a scenario that is none; a path is read later."""
    for name in given:
        if name is not None and Path(name).suffix != ".yml":
            choose("scenario", name, scenario_files(), COMMAND_LINE, "scenario")


def require_link(profile: str | None, topology: str | None) -> None:
    """Refuse a profile and a topology that are none; a path is read later."""
    if profile is not None and Path(profile).suffix != ".yml":
        choose("profile of trace-profiles/", profile, profile_files(), COMMAND_LINE, "profile")
    if topology is not None:
        topology_file(topology, COMMAND_LINE)


def require_senders(text: str | None) -> None:
    """Refuse a sender that is none, of names with commas between them."""
    given = names(text) if text else []
    others = [name for name in given if ":" not in name and not name.endswith(".yml")]  # those are of files, read later
    if others := [name for name in others if name not in kernel_senders()]:
        from lab.schema.cca import cca_names  # those of packages: their files are named by what they bring

        for name in others:
            if name.endswith(".c"):
                raise field_error(COMMAND_LINE, "cca", name, "a sender's name: 'lab try FILE.c' runs your own module")
            choose("sender of lab/cca.yml or a package", name, cca_names(), COMMAND_LINE, "cca")


def require_links(text: str | None) -> None:
    """Refuse what is neither a kind of link nor a profile, of names with commas between them."""
    from lab.runs.link_kinds import links

    if text:
        links(names(text))


def require_run(folder: Path) -> Path:
    """Return the folder of a run; UserError of another one."""
    if not (folder / "run.json").is_file():
        raise UserError(f"{folder}: must be a run's folder, with run.json")
    return folder
