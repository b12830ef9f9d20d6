# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH as BPF on the running kernel, from the command line: every refusal comes before anything is built."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.node.system.tools import NodeError
from lab_bpf.node import loader
from lab_bpf.program import build

HEADINGS = f"{'t_s':>14}  {'cause':8}{'cwnd_pkts':>10}{'ssthresh_pkts':>15}{'rtt_ms':>10}  ports"
Machine = Callable[[], loader.Machine]


def loaded(name: str, version: str, machine: Machine = loader.this_machine) -> Iterator[str]:
    """Build the program and load it; yield what was done."""
    with _refused():
        _require_able("load", name, machine)
        if version not in build.VERSIONS:
            raise field_error(COMMAND_LINE, "version", version, f"one of {', '.join(build.VERSIONS)}")
        if loader.is_loaded():
            raise NodeError(loader.LOADED)
        built = build.ensure(version)
        loader.load(built.program, built.bpftool)
    yield f"{name}: loaded ({version}): flows choose it by TCP_CONGESTION, as `iperf3 -C {name}` does"
    yield f"'lab senders exits {name}' shows its exits, 'lab senders unload {name}' unloads it"


def unloaded(name: str, machine: Machine = loader.this_machine) -> Iterator[str]:
    """Unload the program; yield what sockets still hold of it."""
    with _refused():
        _require_able("unload", name, machine)
        loader.require_loaded()
        left = loader.unload(build.ensure().bpftool)
    rest = f"; sockets still use it ({', '.join(left)} remain until they close)" if left else ", nothing of it is left"
    yield f"{name}: unloaded{rest}"


def exit_lines(name: str) -> Iterator[str]:
    """Yield a line per exit."""
    with _refused():
        _require_able("exits", name, loader.this_machine)
        loader.require_loaded()
        rows = loader.exits(build.ensure().bpftool)
    yield HEADINGS
    for row in rows:
        window = f"{row['cwnd_pkts']:>10}{row['ssthresh_pkts']:>15}{row['rtt_ms']:>10.1f}"
        yield f"{row['t_s']:14.6f}  {row['cause']:8}{window}  {row['sport']}-{row['dport']}"


def _require_able(command: str, name: str, machine: Machine) -> None:
    if name != loader.NAME:
        raise field_error(COMMAND_LINE, "name", name, loader.NAME)
    machine().require_able(f"lab senders {command}")


@contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except NodeError as error:
        raise UserError(str(error)) from None
