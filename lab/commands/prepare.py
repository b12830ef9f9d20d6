# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual kernel for a command: from the cache, or built with a progress bar."""

from rich.console import Console

from lab.backends.virtual import Virtual, ensure_built, find_built
from lab.base import sandbox, sandbox_mode
from lab.commands.progress import build_bar
from lab.kernel.recipe import Recipe

BUILDING = (
    "building kernel and world needs user namespaces or root, or a bundle of another machine (lab bundle use FILE)"
)


def prepare(recipe: Recipe, console: Console) -> Virtual:
    """Return the virtual backend; build what the cache does not have."""
    sandbox_mode.mode()
    return find_built(recipe) or build(recipe, console)


def build(recipe: Recipe, console: Console) -> Virtual:
    """Build the kernel and its images, and print each package whose version is not the pinned one."""
    sandbox.require(BUILDING)
    with build_bar(console) as progress:
        backend = ensure_built(recipe, progress)
    for package, drift in backend.world.drifted.items():
        console.print(f"world: {package}: {drift}: the archive no longer has the pinned version", markup=False)
    return backend
