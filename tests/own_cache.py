# SPDX-License-Identifier: GPL-2.0-or-later
"""A cache of a test's own, that shares what takes minutes to build; and a virtual kernel of which nothing is built."""

from pathlib import Path

from lab.backends.virtual import Virtual
from lab.base import paths
from lab.images import image
from lab.images.image import Image
from lab.kernel.build import Kernel


def cache_with(kernel: Kernel, folder: Path) -> Path:
    """Make a cache whose large folders are links."""
    folder.mkdir()
    images = (paths.cache() / f"{name}-{image.digest(name)}" for name in ("world", "builder"))
    for shared in (*kernel.folders, *images):
        (folder / shared.name).symlink_to(shared)
    return folder


def unbuilt(folder: Path) -> Virtual:
    """Return the backend, with a module that it has already."""
    gone = folder / "gone"
    kernel = Kernel(gone / "obj/linux", gone, gone, gone, {})
    return Virtual(kernel, Image(gone, "w", {}, {}), own_modules={"earlier": gone})
