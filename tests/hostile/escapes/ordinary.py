# SPDX-License-Identifier: GPL-2.0-or-later
"""Root runs a command as an ordinary user, who has a cache of its own and sees Python and the lab's kernel."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.base import paths
from lab.kernel.build import Kernel
from tests.own_cache import cache_with

UID = 54321
ROOTS_OWN_RIGHTS = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
DROPPED = ("setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--inh-caps=-all", "--")


@contextmanager
def open_folder() -> Iterator[Path]:
    """Yield a folder that others may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def command(kernel: Kernel, folder: Path, words: list[str]) -> list[str]:
    """Build a command; `folder`: a new one, for the user's cache, home and temporary files."""
    folder.mkdir()
    cache_with(kernel, folder / "cache")
    (folder / "tmp").mkdir()
    for each in (folder, folder / "cache", folder / "tmp"):
        os.chown(each, UID, UID)
    settings = {"LAB_CACHE": folder / "cache", "HOME": folder, "TMPDIR": folder / "tmp", "PYTHONDONTWRITEBYTECODE": 1}
    options = [option for name, value in settings.items() for option in ("--setenv", name, str(value))]
    own = ["--bind", str(folder), str(folder)]
    return ["bwrap", "--dev-bind", "/", "/", *_opened_home(), *own, *ROOTS_OWN_RIGHTS, *options, "--", *DROPPED, *words]


def _opened_home() -> list[str]:
    """Show what is needed of root's home, which others may not enter."""
    home = Path.home()
    needed = [path for path in (Path(sys.base_prefix), paths.cache().resolve()) if path.is_relative_to(home)]
    parents = sorted({parent for path in needed for parent in path.parents if parent.is_relative_to(home)} - {home})
    folders = [option for path in parents for option in ("--perms", "0755", "--dir", str(path))]
    binds = [option for path in needed for option in ("--ro-bind", str(path), str(path))]
    return ["--perms", "0755", "--tmpfs", str(home), *folders, *binds]
