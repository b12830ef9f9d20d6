# SPDX-License-Identifier: GPL-2.0-or-later
"""Record how often trials run each branch of the virtual kernel: `python -m bench.profile_kernel`.

gcc lays the kernel out by these counts (`-fprofile-use`), which takes some 5 % off what it costs. They are those of one
source, configuration and compiler: gcc compiles as before what has changed since, and this command counts again. It
builds a kernel that counts (some five minutes), runs a trial over each of LINKS in it, and writes
lab/kernel/<version>.profile.tar.xz. It needs bubblewrap.
"""

import shutil
import tarfile
from dataclasses import replace
from pathlib import Path
from unittest import mock

from rich.console import Console

from lab.backends import guest_tree
from lab.backends.virtual import Virtual
from lab.base.scratch import scratch_folder
from lab.commands.prepare import prepare as prepared
from lab.images import image
from lab.images.compile import Compile
from lab.kernel import build
from lab.kernel.recipe import HERE, Recipe
from lab.runs.experiment import try_link
from lab.runs.trial import Job, new_draft, prepare

# A sender over a link of each of the main kinds, and how long.
LINKS = {
    "geo-viasat": ("search", 20),
    "leo-starlink": ("bbr", 3),
    "lte-hotspot": ("cubic", 3),
    "wifi-strong": ("cubic", 3),
    "wifi-weak": ("search", 3),
}
PATCH = Path(__file__).with_suffix(".patch")
COUNTS = "build"  # gcov writes below the folder of its objects, which is /build/obj


def record(recipe: Recipe, console: Console) -> Path:
    """Build the kernel that counts, run the trials, and pack their counts."""
    backend = prepared(recipe, console)
    with scratch_folder() as scratch:
        with console.status("building a kernel that counts"):
            counting = replace(backend, kernel=replace(backend.kernel, linux=_counting(recipe, scratch / "kernel")))
        counts = scratch / COUNTS
        counts.mkdir()
        with mock.patch.dict(guest_tree.ENVIRONMENT, GCOV_PREFIX=guest_tree.TRIAL):
            for link, (cca, duration_s) in LINKS.items():
                experiment = try_link(link, [cca], {"trials": 1, "duration_s": duration_s})
                _add(Job(experiment, cca, 1, scratch / link / f"{cca}-001", counting), counts)
        return _packed(counts / "obj", HERE / f"{recipe.version}.profile.tar.xz")


def _counting(recipe: Recipe, folder: Path) -> Path:
    folder.mkdir()
    compile_ = Compile(image.ensure("builder").root, folder, lambda _steps: None)
    build.configure(compile_, recipe, recipe.source(), PATCH)
    compile_.run("src/scripts/config", "--file", "obj/.config", "--enable", "GCOV")
    compile_.make("olddefconfig")
    compile_.make("linux")
    return folder / "obj/linux"


def _add(job: Job, counts: Path) -> None:
    """Run a trial, whose kernel adds its counts to those that lie in its folder."""
    assert isinstance(job.backend, Virtual)
    with new_draft(job.folder) as draft:
        shutil.copytree(counts, draft / COUNTS)
        job.backend.run_plan(prepare(job, draft), draft)
        shutil.copytree(draft / COUNTS, counts, dirs_exist_ok=True)


def _packed(counts: Path, target: Path) -> Path:
    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = member.mtime = 0
        member.uname = member.gname = ""
        member.mode = 0o644
        return member

    with tarfile.open(target, "w:xz", preset=9) as sink:
        for file in sorted(counts.rglob("*.gcda")):
            sink.add(file, str(file.relative_to(counts)), filter=plain)
    return target


if __name__ == "__main__":
    terminal = Console()
    terminal.print(record(Recipe(), terminal), soft_wrap=True, markup=False)
