# SPDX-License-Identifier: GPL-2.0-or-later
"""The QUIC stacks that senders of lab/quic.yml name: each has its code, its image and its program.

The programs take the same options and write the same logs, so that nothing else of the lab differs by stack.
"""

from collections.abc import Callable
from dataclasses import dataclass

from lab.kernel.ngtcp2 import build as ngtcp2
from lab.kernel.program import Program, Progress
from lab.kernel.quic import build as quinn
from lab.schema.cca import Cca


@dataclass(frozen=True)
class Stack:
    """A stack: the name of its program, and what is known of it."""

    program: str
    source: str  # where the code is, on what, and under which licence
    pinned: Callable[[], Program]  # of the present sources, built or not
    find: Callable[[], Program | None]
    ensure: Callable[[Progress], Program]

    @property
    def place(self) -> str:
        """Return the program's path below a trial's folder, with the modules that are not the lab's own."""
        return f"own/{self.program}"


STACKS = {
    "quinn": Stack(
        quinn.PROGRAM,
        "lab/kernel/quic/, on the crates of its Cargo.lock (quinn: MIT or Apache-2.0)",
        quinn.pinned,
        quinn.find,
        quinn.ensure,
    ),
    "ngtcp2": Stack(
        ngtcp2.PROGRAM,
        "lab/kernel/ngtcp2/, on Debian's libngtcp2 (MIT) and GnuTLS (LGPL-2.1-or-later)",
        ngtcp2.pinned,
        ngtcp2.find,
        ngtcp2.ensure,
    ),
}


def stack_of(cca: Cca) -> Stack:
    """Return the stack of a sender over QUIC."""
    assert cca.stack
    return STACKS[cca.stack]
