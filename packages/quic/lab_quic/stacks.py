# SPDX-License-Identifier: GPL-2.0-or-later
"""The QUIC stacks that senders of quic.yml name: each has its code, its image and its program.

The programs take the same options and write the same logs, so that nothing else of the lab differs by stack.
"""

from lab.kernel.program import Buildable
from lab.schema.cca import Cca
from lab_quic.ngtcp2 import build as ngtcp2
from lab_quic.quinn import build as quinn

STACKS = {
    "quinn": Buildable(
        quinn.PROGRAM,
        "packages/quic/lab_quic/quinn/, on the crates of its Cargo.lock (quinn: MIT or Apache-2.0)",
        quinn.pinned,
        quinn.find,
        quinn.ensure,
    ),
    "ngtcp2": Buildable(
        ngtcp2.PROGRAM,
        "packages/quic/lab_quic/ngtcp2/, on Debian's libngtcp2 (MIT) and GnuTLS (LGPL-2.1-or-later)",
        ngtcp2.pinned,
        ngtcp2.find,
        ngtcp2.ensure,
    ),
}


def stack_of(cca: Cca) -> Buildable:
    """Return the stack of a sender over QUIC."""
    assert cca.stack
    return STACKS[cca.stack]
