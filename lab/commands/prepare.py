# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual kernel for a command: from the cache, or built with a progress bar."""

from rich.console import Console

from lab.backends.virtual import Virtual, ensure_built, find_built
from lab.base import sandbox
from lab.commands.progress import build_bar
from lab.kernel.recipe import Recipe


def prepare(recipe: Recipe, console: Console) -> Virtual:
    """Return the virtual backend; build what the cache does not have."""
    sandbox.require()
    return find_built(recipe) or build(recipe, console)


def build(recipe: Recipe, console: Console) -> Virtual:
    """Build the kernel and its images, and print each package whose version is not the pinned one."""
    with build_bar(console) as progress:
        backend = ensure_built(recipe, progress)
    for package, drift in backend.world.drifted.items():
        console.print(f"world: {package}: {drift}: the archive no longer has the pinned version", markup=False)
    return backend
