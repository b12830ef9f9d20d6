# SPDX-License-Identifier: GPL-2.0-or-later
"""The licences of what a bundle holds: the lab's, those of the recordings, and where the source of each package is."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from lab.base import paths
from lab.images import image
from lab.kernel.build import DEFAULT
from lab.kernel.program import Buildable
from lab.senders.ways import ways
from lab_bundle.content import TRACES, Folder, distributable

HEAD = """\
This file is a bundle of search-lab: see docs/bundle.md of its repository. 'lab bundle use FILE' installs it.

The lab, its kernel modules and its patches of the kernel are free software: GPL-2.0-or-later, in COPYING. Their source
is the repository at the commit that manifest.json names.

The kernel is Linux, GPL-2.0-only. Its source is Debian's package {source}, configured and patched by lab/kernel of the
repository. 'lab kernel build' builds it again.

The folders world and builder are packages of Debian 13, unchanged. The copyright file of each package is in the folder
copyright beside root. A package without one shares that of another package of its source. Their versions are in
var/lib/dpkg/status, and in lab/images/*.lock of the repository. Debian's archive, and its archive of snapshots for
older versions, has the source of each one. The wheels are those that their authors publish. Each holds its own licence.

{programs}Recordings of real links, under the licences of their authors:
"""


def write(folder: Path, held: list[Folder]) -> list[Path]:
    """Write COPYING and the read-me of a bundle with some folders."""
    folder.mkdir()
    shutil.copyfile(paths.REPO / "COPYING", folder / "COPYING")
    source = DEFAULT.packaged(image.pinned("builder")).name
    programs = "".join(f"{way.part_note}\n" for way in ways() if way.part and _holds(way.programs(), held))
    (folder / "README").write_text(HEAD.format(source=source, programs=programs) + _recordings(held))
    return [folder / "COPYING", folder / "README"]


def _holds(programs: Iterable[Buildable], held: list[Folder]) -> bool:
    return bool({each.pinned().program.parent.name for each in programs} & {folder.name for folder in held})


def _recordings(held: list[Folder]) -> str:
    names = {folder.name.split("/")[1] for folder in held if folder.name.startswith(f"{TRACES}/")}
    origins = {each.collection: each.origin for each in distributable()}
    lines = [f"  {name}: {origins[name].licence}; {origins[name].attribution}\n" for name in sorted(names)]
    return "".join(lines) or "  none in this bundle\n"
