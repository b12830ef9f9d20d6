# SPDX-License-Identifier: GPL-2.0-or-later
"""What a smoke test found: one line from logs of real kernels, and from the figures of flows."""

import pytest

from lab.node.smoke import Flow, Smoke
from lab.runs.own.findings import Finding, faults

NONE = Finding("none")
FINE: Flow = {"got_bytes": 1_636_240, "least_cwnd_pkts": 10, "most_cwnd_pkts": 254}
ENDED, STOPPED = "virtual kernel: no end after 8 s of processor time", "virtual kernel: exit status 134"
POINTER = "a flow of own: a bad pointer (Segfault with no mm)"
# Of the virtual kernel: a module whose hook writes to address 8, and one whose hook loops until it is ended.
BAD_POINTER = """\
own: loading out-of-tree module taints kernel.

Modules linked in: own(O)
Pid: 0, comm: swapper Tainted: G           O       6.12.117
RIP: 0033:hook+0x0/0xc [own]
RSP: 000000006046edd8  EFLAGS: 00000206
Kernel panic - not syncing: Segfault with no mm
"""
LOOP = BAD_POINTER.replace("hook+0x0/0xc", "my_avoid+0xe/0x13")
# Of the sanitized kernel.
KASAN = """\
==================================================================
BUG: KASAN: slab-use-after-free in hook+0x32/0x40 [own]
Write of size 1 at addr 0000000063a5e2c3 by task python3/1
Call Trace:
 kasan_report+0xc6/0x100
 hook+0x32/0x40 [own]
 tcp_assign_congestion_control+0x1d2/0x2b0
"""


class Lines:
    """Line numbers of a module that is not there: the offset is the line."""

    class module:  # noqa: N801
        """What a module must have."""

        name = "own"

    def line(self, function: str, offset: int) -> str | None:
        return f"own.c:{offset}" if function else None


def smoke(*flows: Flow, leaks: list[str] | None = None) -> Smoke:
    return {"algorithms": {"own": list(flows)}, "parameters": {}, "leaks": leaks or []}


def first(log: str = "", error: str = "", result: Smoke | None = None) -> Finding:
    return next(faults(log, error, "a flow of own", result, Lines()), NONE)  # type: ignore[arg-type]


def test_a_module_whose_flows_went_well_has_no_fault_nor_what_the_kernel_complains_of_before() -> None:
    assert first("own: loading out-of-tree module taints kernel.\n", result=smoke(FINE)) == NONE
    at_boot = "BUG: sleeping function called from invalid context\nRun /usr/bin/python3 as init process\n"
    assert first(at_boot, result=smoke(FINE)) == NONE
    assert first(at_boot + BAD_POINTER).message == "a flow of own: a bad pointer (Segfault with no mm), in hook+0x0"


@pytest.mark.parametrize(
    ("log", "error", "found"),
    [
        (BAD_POINTER, STOPPED, Finding(f"{POINTER}, in hook+0x0", "own.c:0")),
        (LOOP, ENDED, Finding(f"a flow of own: a hook does not return, in my_avoid+0xe: {ENDED}", "own.c:14")),
        ("", ENDED, Finding(f"a flow of own: a hook loops or sleeps: {ENDED}")),
        (  # a complaint without a place has the first place of the log
            "RIP: 0033:hook+0x4/0xc [own]\nKernel panic - not syncing: Segfault with no mm\n",
            STOPPED,
            Finding(f"{POINTER}, in hook+0x4", "own.c:4"),
        ),
    ],
    ids=["a bad pointer", "registers of an ended kernel", "ended elsewhere", "without a place"],
)
def test_a_kernel_that_ended_is_named_with_the_modules_function_and_line(log: str, error: str, found: Finding) -> None:
    assert first(log, error) == found


def test_a_refusal_is_the_kernels_own_and_a_return_address_of_the_call_before_it() -> None:
    where = "BUG: KASAN: slab-use-after-free in hook+0x32/0x40 [own], in hook+0x32"
    assert first(KASAN, result=smoke(FINE)) == Finding(f"a flow of own: {where}", f"own.c:{0x31}")
    error = "insmod /trial/own/own.ko: exit status 1: insmod: ERROR; kernel: TCP: own does not implement required ops"
    found = first(error=error)
    assert found.message == (
        "a flow of own: the kernel refuses it: TCP: own does not implement required ops: "
        "ssthresh, undo_cwnd, and cong_avoid or cong_control must be set (net/ipv4/tcp_cong.c)"
    )


def test_used_up_memory_comes_first_and_a_leak_counts_though_every_flow_went_well() -> None:
    found = first(f"python3: page allocation failure: order:0\n{BAD_POINTER}", "virtual kernel: exit status 134")
    assert "memory is used up" in found.message
    found = first(result=smoke(FINE, leaks=["unreferenced object 0x61a3 (size 64)"]))
    assert "neither release nor the module's exit frees: unreferenced object" in found.message


def test_a_window_of_nothing_or_of_everything_and_a_flow_that_moves_nothing_are_faults() -> None:
    assert first(result=smoke(FINE, {**FINE, "least_cwnd_pkts": 0})).message.startswith("own: cwnd_pkts=0: must be")
    assert "cwnd_pkts=1000001: must be at most" in first(result=smoke({**FINE, "most_cwnd_pkts": 1_000_001})).message
    assert first(result=smoke({**FINE, "most_cwnd_pkts": 1_000_000})) == NONE
    assert "bytes=0: must move data" in first(result=smoke({**FINE, "got_bytes": 0})).message
