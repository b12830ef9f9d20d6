# SPDX-License-Identifier: GPL-2.0-or-later
"""In the virtual kernel: run steps in copies of the trial's folders, and leave the files that they made.

The steps run as a user without rights who does not see the trial's folder: what is not in memory, they only read.
"""

import ctypes
import os
import shutil
import signal
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypedDict

from lab.node.guest import mount
from lab_try.node.bounded import Step, run_steps

TRIAL = Path("/trial")
OUT = "out"  # below TRIAL: results
IN = "own"  # below TRIAL: one folder per place
USER = 65533  # owns nothing on the host, unlike nobody
LATER_THAN_ANY_FILE_S = 4_000_000_000  # make complains of each file that is from the future
DESCRIPTORS = {"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
LIBC = ctypes.CDLL(None)


class Ended(TypedDict):
    """How a step ended."""

    status: Annotated[int, "exit status"]
    output: Annotated[str, "what it printed"]


def guest_steps(
    steps: list[tuple[list[str], int]],
    places: dict[str, str],
    folder: str,
    environment: dict[str, str],
    most_s: float,
    results: list[str],
) -> list[Ended]:
    """Run steps (command, most bytes of output) in a folder.

    places: where each folder below IN is copied to; results: patterns of the files to leave.
    """
    time.clock_settime(time.CLOCK_REALTIME, LATER_THAN_ANY_FILE_S)
    for name, target in DESCRIPTORS.items():
        Path("/dev", name).symlink_to(f"/proc/self/{target}")
    for name, place in places.items():
        shutil.copytree(TRIAL / IN / name, place)
    for path in (Path(folder), *Path(folder).rglob("*")):
        os.chown(path, USER, USER, follow_symlinks=False)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    with _trial_hidden():
        done = run_steps([Step(tuple(argv), most) for argv, most in steps], most_s, _without_rights)
    _leave(Path(folder), results)
    return [{"status": each.status, "output": each.output} for each in done]


@contextmanager
def _trial_hidden() -> Iterator[None]:
    """Lay an empty folder over the trial's; then end all processes that the steps left."""
    mount("tmpfs", str(TRIAL))
    yield
    os.kill(-1, signal.SIGKILL)  # all but this one, which is init
    LIBC.umount2(str(TRIAL).encode(), 0)


def _without_rights(argv: list[str]) -> list[str]:
    user = [f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
    return ["setpriv", *user, "--no-new-privs", *argv]


def _leave(folder: Path, results: list[str]) -> None:
    (TRIAL / OUT).mkdir()
    for file in (file for pattern in results for file in sorted(folder.glob(pattern))):
        if stat.S_ISREG(file.lstat().st_mode):
            shutil.copyfile(file, TRIAL / OUT / file.name, follow_symlinks=False)
