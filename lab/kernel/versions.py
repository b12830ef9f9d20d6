# SPDX-License-Identifier: GPL-2.0-or-later
"""The versions of Linux that the lab builds."""

from dataclasses import dataclass

DEFAULT = "6.12"


@dataclass(frozen=True)
class Version:
    """A Linux that Debian packages as source: its number, the image with its source, and its configurations.

    `own_patches` are folders of patches/: what it needs besides the patches of every version.
    `socket_bytes` replaces the 104 bytes that a socket has for its congestion control. `traps`: it can trap its
    programs' calls by seccomp filters.
    """

    number: str
    image: str
    configs: tuple[str, ...]
    own_patches: tuple[str, ...] = ()
    socket_bytes: int | None = None
    traps: bool = False


LARGE_SOCKETS = "large-sockets"  # the default kernel with 768 bytes of state for each congestion control
VERSIONS = {
    "6.1": Version("6.1", "source-6.1", ("virtual", "6.1"), own_patches=("before-7", "6.1")),
    "6.12": Version("6.12", "builder", ("virtual",), own_patches=("before-7", "6.12")),
    "7.2": Version("7.2", "source-7.2", ("virtual",), own_patches=("7",), traps=True),
    "7.3": Version("7.3", "source-7.3", ("virtual", "7.3"), own_patches=("7",), traps=True),
    LARGE_SOCKETS: Version(
        "6.12", "builder", ("virtual", "large-sockets"), own_patches=("before-7", "6.12"), socket_bytes=768
    ),
}
DEBIAN = [name for name, version in VERSIONS.items() if version.socket_bytes is None]
