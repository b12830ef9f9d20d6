# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtual kernel of which nothing is built, for tests of what senders need of it."""

from pathlib import Path

from lab.backends.virtual import Virtual
from lab.images.image import Image
from lab.kernel.build import Kernel


def virtual(folder: Path) -> Virtual:
    """Return the backend, with a module of before."""
    gone = folder / "gone"
    kernel = Kernel(gone / "obj/linux", gone, gone, gone, {})
    return Virtual(kernel, Image(gone, "w", {}, {}), own_modules={"earlier": gone})
