# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of a command line, refused before a command loads what it needs: that takes a second, this no time."""

from collections.abc import Iterable
from glob import escape, glob
from os.path import isfile
from pathlib import Path

from lab.base import paths
from lab.base.choice import choose, names
from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.base.named_files import kernel_senders, profile_files, scenario_files, topology_file


def require_scenarios(given: Iterable[str | None]) -> None:
    """Refuse a scenario that is none; a path is read later."""
    for name in given:
        if name is not None and not _is_file(name, "scenario"):
            known = scenario_files()
            if name not in known and name in profile_files():
                rule = f"a scenario: 'lab run --profile {name}' runs this link without one"
                raise field_error(COMMAND_LINE, "scenario", name, rule)
            choose("scenario", name, known, COMMAND_LINE, "scenario")


def _is_file(name: str, field: str) -> bool:
    """Return whether a name is that of a file, which is read later."""
    if Path(name).suffix == ".yaml":
        raise field_error(COMMAND_LINE, field, name, "a name, or a file that ends in .yml")
    return Path(name).suffix == ".yml"


def require_link(profile: str | None, topology: str | None) -> None:
    """Refuse a profile and a topology that are none; a path is read later."""
    if profile is not None and not _is_file(profile, "profile"):
        choose("profile of trace-profiles/", profile, profile_files(), COMMAND_LINE, "profile")
    if topology is not None:
        topology_file(topology, COMMAND_LINE)


def require_senders(text: str | None, field: str = "cca") -> None:
    """Refuse a sender that is none, of names with commas between them that an option or argument gave."""
    given = names(text) if text else []
    others = [name for name in given if ":" not in name and not name.endswith(".yml")]  # those are of files, read later
    if others := [name for name in others if name not in kernel_senders()]:
        from lab.schema.cca import cca_names  # those of packages: their files are named by what they bring

        for name in others:
            if name.endswith(".c"):
                raise field_error(COMMAND_LINE, field, name, "a sender's name: 'lab try FILE.c' runs your own module")
            choose("sender of lab/cca.yml or a package", name, cca_names(), COMMAND_LINE, field)


def require_run(run: Path | str, option: str = "") -> Path:
    """Return a run's folder, which a user names by its path, or by a scenario for its latest run; else UserError."""
    for named in (Path(run), paths.results() / run):
        if found := _run_at(named):
            return found
    rule = f"a run's folder, or a scenario with a run in {paths.results()}"
    if there := sorted(glob(f"{escape(str(paths.results() / run))}/[0-9]*/run.json")):  # noqa: PTH207 - Path's form raises
        rule = f"a run's folder, such as {Path(there[-1]).parent}: no link 'latest' leads to one"
    raise UserError(f"{option}{str(run)[:200]}: must be {rule}")


def _run_at(named: Path) -> Path | None:
    """Return a folder that is a run, or has a link to one of its own: a report is written where the link leads."""
    if isfile(named / "run.json"):  # noqa: PTH113 - Path.is_file() raises where a name is too long
        return named
    latest = named / "latest"
    its_own = isfile(latest / "run.json") and latest.resolve().parent == named.resolve()  # noqa: PTH113
    return latest if its_own else None
