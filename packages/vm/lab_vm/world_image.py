# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual kernel's world as a container image, so that containerlab's nodes have the same versions of tools."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lab.base import paths
from lab.base.cache import ensured
from lab.images import image

NAME = "search-lab/world:1"
FILE = "world.tar.gz"


@dataclass(frozen=True)
class Packed:
    """A tar for `docker import`, and the digest of its content."""

    file: Path
    digest: str


def ensure() -> Packed:
    """Return the packed image; make it if it is not cached."""
    world = image.ensure("world")
    folder = ensured(paths.cache() / f"world-image-{world.digest}", partial(_pack, world.root))
    return Packed(folder / FILE, world.digest)


def _pack(root: Path, draft: Path) -> None:
    """Make root the owner of a file, as in the virtual kernel."""
    compress = "--use-compress-program=gzip -1"
    owner = ["--owner=0", "--group=0", "--numeric-owner"]
    command = ["tar", "-c", compress, *owner, "-f", str(draft / FILE), "-C", str(root), "."]
    image.run_logged(command, None, draft / "tar.log")


def load(packed: Packed) -> None:
    """Load the image into this machine's Docker."""
    change = ["--change", f"LABEL digest={packed.digest}", "--change", 'CMD ["sleep", "infinity"]']
    image.run_logged(["docker", "import", *change, str(packed.file), NAME], None, packed.file.parent / "import.log")
