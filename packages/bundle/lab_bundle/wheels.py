# SPDX-License-Identifier: GPL-2.0-or-later
"""The Python packages of a bundle: what running needs of requirements.lock, as wheels for one version of Python.

What only the tests, the cluster, the docs and VMs need stays out: it doubles the size.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lab.base import paths
from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.base.processes import ENDING_WITH_THIS

LOCK = "requirements.lock"
JUPYTER_LOCK = "analysis/requirements.lock"  # all that JupyterLab needs, at the versions of the other lock
EXTRAS = ("install", "recordings", "analysis")  # analysis: the notebooks that `lab page` and `lab reproduce` execute
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
MOST_NAME = 90  # of a tar header's 100 bytes, with the folder before it
VIA = re.compile(r"# via(.*)|#   (.*)")


@dataclass(frozen=True)
class Pin:
    """A pinned package: its line without the condition, its hashes, and which packages need it."""

    name: str
    line: str
    hashes: tuple[str, ...]
    needed_by: frozenset[str]


def download(python: str, folder: Path, jupyter: bool = False) -> list[Path]:
    """Download the wheels and write their own lock; return all in the order of names.

    pip checks each wheel against the hashes of the lab's locks. jupyter: with JupyterLab.
    """
    if python not in PYTHONS:
        raise field_error(COMMAND_LINE, "python", python, f"one of {', '.join(PYTHONS)}")
    folder.mkdir()
    lock = folder / LOCK
    lock.write_text("".join(f"{pin.line} {' '.join(pin.hashes)}\n" for pin in wanted(python, jupyter)))
    platforms = [word for name in PLATFORMS for word in ("--platform", name)]
    options = "download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all:".split()
    argv = [*ENDING_WITH_THIS, sys.executable, "-m", "pip", *options, "--python-version", python, *platforms]
    done = subprocess.run([*argv, "-d", str(folder), "-r", str(lock)], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [done.stderr]
        raise UserError(f"pip: {lines[-1]}: wheels need the package index: leave out --with wheels")
    return sorted(_shortened(file) for file in folder.iterdir())


def _shortened(file: Path) -> Path:
    """Rename a wheel whose set of platform tags is too long for a tar header: each tag of the set is true of it."""
    if len(file.name) <= MOST_NAME:
        return file
    rest, _, platforms = file.stem.rpartition("-")
    return file.rename(file.with_name(f"{rest}-{platforms.partition('.')[0]}.whl"))


def wanted(python: str, jupyter: bool) -> list[Pin]:
    """Return the pins of a bundle, each package once."""
    more = _pins((paths.REPO / JUPYTER_LOCK).read_text(), python) if jupyter else ()
    pins = {canonicalize_name(pin.name): pin for pin in (*more, *running(python))}
    return [pins[name] for name in sorted(pins)]


def running(python: str) -> list[Pin]:
    """Return the pins that a version of Python needs to run the lab."""
    pins = {pin.name: pin for pin in _pins((paths.REPO / LOCK).read_text(), python)}
    project = tomllib.loads((paths.REPO / "pyproject.toml").read_text())["project"]
    roots = [*project["dependencies"], *(root for name in EXTRAS for root in project["optional-dependencies"][name])]
    needed: set[str] = {canonicalize_name(Requirement(text).name) for text in roots}
    while more := {name for name, pin in pins.items() if pin.needed_by & needed} - needed:
        needed |= more
    return [pins[name] for name in sorted(needed)]


def _pins(lock: str, python: str) -> Iterator[Pin]:
    """Read a lock of `uv pip compile`: a line per package, its hashes, and behind `# via` who needs it."""
    environment = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
    environment |= {"platform_system": "Linux", "platform_machine": "x86_64", "os_name": "posix"}
    environment |= {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
    for block in re.split(r"\n(?=[A-Za-z0-9])", lock):
        line, _, rest = block.partition(" \\\n")
        pinned, _, condition = line.partition(";")
        if "==" in pinned and (not condition or Marker(condition).evaluate(environment)):
            hashes = tuple(re.findall(r"--hash=\S+", rest))
            needing = {one.strip() for found in VIA.findall(rest) for one in found if one.strip()}
            yield Pin(pinned.split("==")[0], pinned.strip(), hashes, frozenset(needing))
