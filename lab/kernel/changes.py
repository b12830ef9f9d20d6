# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel for visitors has that Debian's has not: patches of others, and more room in each socket."""

import hashlib
import re
from pathlib import Path

from lab.base.errors import UserError, field_error
from lab.images.compile import Compile
from lab.kernel.recipe import VERSIONS, CorePatch, Recipe

SOCKET = "include/net/inet_connection_sock.h"
SOCKET_BYTES = re.compile(r"(icsk_ca_priv\[|#define\s+ICSK_CA_PRIV_SIZE\s+\()\d+")


def digested(recipe: Recipe) -> list[str]:
    """Return what a kernel's digest has in addition; nothing for Debian's own."""
    held_bytes = VERSIONS[recipe.version].socket_bytes
    sums = [hashlib.sha256(patch.content).hexdigest() for patch in recipe.core_patches]
    return [*([f"socket {held_bytes}"] if held_bytes else []), *sums]


def change_core(compile_: Compile, recipe: Recipe) -> None:
    """Change an unpacked source; UserError in one line where a patch or the header does not fit."""
    for patch in recipe.core_patches:
        _apply(compile_, patch, recipe)
    if held_bytes := VERSIONS[recipe.version].socket_bytes:
        header = compile_.folder / "src" / SOCKET
        header.write_text(with_socket_bytes(header.read_text(), held_bytes))


def with_socket_bytes(header: str, held_bytes: int) -> str:
    """Return the header with another ICSK_CA_PRIV_SIZE, which stands there as a number exactly once."""
    changed, count = SOCKET_BYTES.subn(rf"\g<1>{held_bytes}", header)
    if count != 1:
        raise UserError(f"build: {SOCKET}: must state the size of icsk_ca_priv once as a number, not {count} times")
    return changed


def _apply(compile_: Compile, patch: CorePatch, recipe: Recipe) -> None:
    file: Path = compile_.folder / patch.name
    file.write_bytes(patch.content)
    try:
        compile_.patch(file)
    except UserError as error:
        number = VERSIONS[recipe.version].number
        rule = f"a patch that applies to the source of Linux {number}: {error}"
        raise field_error(patch.named_in, "core_patches", patch.name, rule) from None
