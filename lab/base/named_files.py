# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that are known by a name: which there are, before any of them is read.

A name that is not there is refused by this file alone, which loads in no time.
"""

import re
from collections.abc import Callable, Iterable
from os.path import isfile
from pathlib import Path

from lab.base import paths
from lab.base.choice import choose
from lab.base.entry_points import loaded
from lab.base.errors import field_error
from lab.base.paths import REPO

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
YAML = (".yml", ".yaml")
NOT_YAML = (".gotmpl", ".json", ".py", ".toml", ".txt")  # what users give for a containerlab file
STANZA = re.compile(r"^([A-Za-z0-9_]+):", re.MULTILINE)  # its name, in a file of senders


def scenario_files() -> dict[str, Path]:
    """Return the file of every scenario by name: in lab/scenarios/, in LAB_SCENARIOS, or in a package's folder."""
    folders = [*paths.with_own(paths.SCENARIOS, "LAB_SCENARIOS"), *loaded("lab.scenarios").values()]
    return by_name((file for folder in folders for file in folder.glob("*.yml")), lambda file: file.stem)


def profile_files() -> dict[str, Path]:
    """Return the file of every profile by name: in trace-profiles/ or in LAB_PROFILES."""
    folders = paths.with_own(paths.PROFILES, "LAB_PROFILES")
    files = [file for folder in folders for file in folder.glob("*.yml") if file.name != "datasets.yml"]
    return by_name(files, lambda file: file.stem)


def topology_files() -> dict[str, Path]:
    """Return the file of every topology by name: `<name>/<name>.clab.yml` in topologies/ or in LAB_TOPOLOGIES."""
    folders = paths.with_own(paths.TOPOLOGIES, "LAB_TOPOLOGIES")
    files = [file for folder in folders for file in sorted(folder.glob("*/*.clab.yml"))]
    for file in files:
        if file.name != f"{file.parent.name}.clab.yml":
            raise field_error(shown(file), "name", file.name, f"{file.parent.name}.clab.yml, as its folder")
    return by_name(files, lambda file: file.parent.name)


def topology_file(name: str, named_in: str) -> Path:
    """Return the file of a topology that is named, or given by its path; UserError where it is neither."""
    if Path(name).suffix in YAML:
        return Path(name)
    if Path(name).suffix in NOT_YAML or isfile(name):  # noqa: PTH113 - Path.is_file() raises where a name is too long
        rule = "a containerlab file in YAML (.yml, .yaml): render a template first; docs/mininet.md is about Mininet's"
        raise field_error(named_in, "topology", name, rule)
    known = topology_files()
    return known[choose("topology", name, known, named_in, "topology")]


def kernel_senders() -> list[str]:
    """Return the names of the senders of lab/cca.yml: each is a stanza."""
    return STANZA.findall(paths.CCAS.read_text(encoding="utf-8"))


def by_name(files: Iterable[Path], name_of: Callable[[Path], str]) -> dict[str, Path]:
    """Return files by name; UserError where two folders have the same name."""
    found: dict[str, Path] = {}
    for file in files:
        name = name_of(file)
        if name in found:
            raise field_error(shown(file), "name", name, f"another name: {shown(found[name])} has it")
        found[name] = file
    return dict(sorted(found.items()))


def require_name(name: str, file: Path | str) -> str:
    """Return a name that becomes a folder and a link of a page; UserError where it could be more than that."""
    if not NAME.fullmatch(name):
        raise field_error(file, "name", name, "letters, digits and _ . - only, at most 100 of them")
    return name


def shown(file: Path) -> str:
    """Return the path of a file, from the checkout's root where the file is inside."""
    return str(file.relative_to(REPO)) if file.is_relative_to(REPO) else str(file)
