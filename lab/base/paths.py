# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths: the checkout, the user's cache, the results."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from lab.base.errors import UserError, field_error

REPO = Path(__file__).resolve().parents[2]
LAB = REPO / "lab"
SCENARIOS = LAB / "scenarios"
RULES = LAB / "judge" / "rules"
WORKLOADS = LAB / "schema" / "workloads"
PROFILES = REPO / "trace-profiles"
TOPOLOGIES = REPO / "topologies"
CCAS = LAB / "cca.yml"
SYSCTLS = LAB / "sysctls.yml"
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def with_own(folder: Path, variable: str) -> list[Path]:
    """Return a folder of the checkout, and the user's own where an environment variable names one."""
    own = os.environ.get(variable)
    if not own:
        return [folder]
    if not Path(own).is_dir():
        raise UserError(f"environment: {variable}={own}: must be a folder")
    return [folder, Path(own)]


def cache() -> Path:
    """Return the user's cache folder (LAB_CACHE, else below XDG_CACHE_HOME).

    Programs from it are run. UserError where another user made it, unless LAB_CACHE names it and only its owner writes.
    """
    named = os.environ.get("LAB_CACHE")
    folder = Path(named) if named else _usual_cache()
    try:
        found = folder.stat()
    except OSError:  # to make or to read it gives the usual error
        return folder
    if found.st_uid != os.geteuid():
        if not named:
            raise UserError(f"{folder}: must be a folder of your own, or named by LAB_CACHE")
        if found.st_mode & OTHERS_WRITE:
            rule = "a folder of your own, or writable for its owner only"
            raise field_error("environment", "LAB_CACHE", folder, rule)
    return folder


def own_cache() -> Path:
    """Return a cache folder of the user's own: not LAB_CACHE where that is another's, as a class has one."""
    folder = cache()
    if folder.is_dir() and folder.stat().st_uid != os.geteuid():
        with suppress(UserError):  # a user without a home keeps nothing
            return _usual_cache()
    return folder


def _usual_cache() -> Path:
    """Return the folder below XDG_CACHE_HOME or the home; UserError where that is no whole path."""
    named = os.environ.get("XDG_CACHE_HOME")
    home = os.environ.get("HOME", os.path.expanduser("~"))  # noqa: PTH111 - Path's form raises where there is none
    if not os.path.isabs(folder := named or home):  # noqa: PTH117
        rule = "a folder's whole path, or LAB_CACHE must name a folder"
        raise field_error("environment", "XDG_CACHE_HOME" if named else "HOME", folder, rule)
    return Path(folder, *([] if named else [".cache"]), "search-lab")


def results() -> Path:
    """Return the folder of all results (LAB_RESULTS, else results/ of the checkout)."""
    return Path(os.environ.get("LAB_RESULTS") or REPO / "results")
