# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m lab.images.lock [IMAGE...]`: pin each package of images (all) to its present version in the archive."""

import sys

from lab.images import image

HEAD = """\
# SPDX-License-Identifier: GPL-2.0-or-later
# Every package of this image and its version. Written by 'make lock'.
"""


def lock(name: str) -> int:
    """Make an image without pins, and write its versions; return the number of packages."""
    file = image.lock_file(name)
    file.write_text(HEAD)
    versions = image.ensure(name).versions
    file.write_text(HEAD + "".join(f"{package}={version}\n" for package, version in sorted(versions.items())))
    return len(versions)


if __name__ == "__main__":
    for name in sys.argv[1:] or image.names():
        print(f"{name}: {lock(name)} packages pinned")
