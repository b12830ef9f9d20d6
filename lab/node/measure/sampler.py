# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples of an interface's root qdisc, taken in the kernel (lab/kernel/qdisc/qdisc_sampler.c) into its trace."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lab.node.net.namespace import entered
from lab.node.system import small_file
from lab.node.system.tools import NodeError

MODULE = "qdisc_sampler"
PARAMETERS = Path("/sys/module") / MODULE / "parameters"


@contextmanager
def sampler(interface: Sequence[str], interval_us: int) -> Iterator[Callable[[], None]]:
    """Yield what begins to sample (node, interface); the kernel's trace holds them as qdisc_sampler:qdisc_sample.

    All files are open by then: the first opening of a file reads the clock more often than any later one.
    """
    node, dev = interface
    small_file.write(PARAMETERS / "interval_us", str(interval_us))
    with (PARAMETERS / "dev").open("wb", buffering=0) as sampled:

        def begin() -> None:
            try:
                with entered(node):
                    sampled.write(dev.encode())
            except OSError as error:
                raise NodeError(f"{node}:{dev}: {error.strerror}: must be an interface, to be sampled") from None

        try:
            yield begin
        finally:
            sampled.write(b"\n")
