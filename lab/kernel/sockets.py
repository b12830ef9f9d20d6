# SPDX-License-Identifier: GPL-2.0-or-later
"""The room that a socket has for its congestion control, where a kernel has more of it than Debian's."""

import re

from lab.base.errors import UserError
from lab.base.plain_file import MEGABYTE, read_plain, require_made
from lab.images.compile import Compile
from lab.kernel.recipe import Recipe
from lab.kernel.versions import VERSIONS

HEADER = "include/net/inet_connection_sock.h"
SIZE = re.compile(r"(icsk_ca_priv\[|#define\s+ICSK_CA_PRIV_SIZE\s+\()\d+")


def digested(recipe: Recipe) -> list[str]:
    """Return what a kernel's digest has in addition; nothing for Debian's own."""
    held_bytes = VERSIONS[recipe.version].socket_bytes
    return [f"socket {held_bytes}"] if held_bytes else []


def enlarge_sockets(compile_: Compile, recipe: Recipe) -> None:
    """Change the header of an unpacked source, where the recipe requests larger sockets."""
    if held_bytes := VERSIONS[recipe.version].socket_bytes:
        header = require_made(compile_.folder, f"src/{HEADER}")
        header.write_text(with_socket_bytes(read_plain(header, MEGABYTE).decode(), held_bytes))


def with_socket_bytes(header: str, held_bytes: int) -> str:
    """Return the header with another ICSK_CA_PRIV_SIZE, which stands there as a number exactly once."""
    changed, count = SIZE.subn(rf"\g<1>{held_bytes}", header)
    if count != 1:
        raise UserError(f"build: {HEADER}: must state the size of icsk_ca_priv once as a number, not {count} times")
    return changed
