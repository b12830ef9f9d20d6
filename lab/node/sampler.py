# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples of an interface's root qdisc, taken in the kernel (lab/kernel/qdisc/qdisc_sampler.c) into its trace."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lab.node.namespace import entered
from lab.node.tools import NodeError

MODULE = "qdisc_sampler"
PARAMETERS = Path("/sys/module") / MODULE / "parameters"


@contextmanager
def sampling(interface: Sequence[str], interval_us: int) -> Iterator[None]:
    """Sample (node, interface) while the block runs; the kernel's trace holds them as qdisc_sampler:qdisc_sample."""
    node, dev = interface
    (PARAMETERS / "interval_us").write_text(str(interval_us))
    try:
        with entered(node):
            (PARAMETERS / "dev").write_text(dev)
    except OSError as error:
        raise NodeError(f"{node}:{dev}: {error.strerror}: must be an interface, to be sampled") from None
    try:
        yield
    finally:
        (PARAMETERS / "dev").write_text("\n")
