# SPDX-License-Identifier: GPL-2.0-or-later
"""A folder that several files of tests begin with: one process of the session makes it, each file changes a copy."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.base.cache import held


def copy_of(name: str, make: Callable[[Path], None], temporary: pytest.TempPathFactory) -> Path:
    """Return a copy of the folder that `make` fills; the processes of a session (pytest -n) share the original."""
    own = temporary.getbasetemp()
    session = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    made, draft = session / f"once-{name}", session / f"draft-{name}"
    with held(session / f"{name}.lock", wait=True):
        if not made.exists():
            shutil.rmtree(draft, ignore_errors=True)
            make(draft)
            draft.rename(made)
    return Path(shutil.copytree(made, temporary.mktemp(name) / name, symlinks=True))
