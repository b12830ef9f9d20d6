# SPDX-License-Identifier: GPL-2.0-or-later
"""Additions to the lab: one Python file each, in a folder of the lab or in a folder of the user's."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from lab.base.errors import UserError
from lab.base.paths import REPO, with_own


def addition_files(own: Path, variable: str) -> dict[str, Path]:
    """Return the files of one kind of addition by name: those in `own`, then those in the folder that `variable` names.

    UserError where the environment variable names no folder, or where both folders have a file of one name.
    """
    found: dict[str, Path] = {}
    for folder in with_own(own, variable):
        for name, file in _python_files(folder).items():
            if name in found:
                raise UserError(f"{file}: name={name}: must differ from the names in {own.relative_to(REPO)}")
            found[name] = file
    return found


def load_addition(file: Path) -> ModuleType:
    """Import one file; UserError where a file outside the lab cannot be imported."""
    if file.is_relative_to(REPO):
        return importlib.import_module(".".join(file.relative_to(REPO).with_suffix("").parts))
    return load_file(file, f"lab_addition_{file.stem}")


def load_file(file: Path, name: str, called: str | None = None) -> ModuleType:
    """Execute a user's file as a module of a name; UserError, which may call the file otherwise, where it fails."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look it up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        line = f"{called or file}: {type(error).__name__}={error}: must be Python that can be imported"
        raise UserError(line) from error
    return module


def _python_files(folder: Path) -> dict[str, Path]:
    files = sorted(folder.resolve().glob("*.py"))
    return {file.stem: file for file in files if not file.stem.startswith("_")}
