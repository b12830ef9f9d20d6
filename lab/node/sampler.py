# SPDX-License-Identifier: GPL-2.0-or-later
"""Sample an interface's root qdisc over netlink: one question and one raw answer an interval.

The file holds records of <u64 monotonic ns><u32 length><netlink answer>; `lab.tables.qdisc` decodes them.
"""

import socket
import struct
import time

RTM_GETQDISC, NLM_F_REQUEST, NLM_F_ECHO, TC_H_ROOT = 38, 1, 8, 0xFFFFFFFF


def question(ifindex: int) -> bytes:
    """Word RTM_GETQDISC for an interface's root qdisc (struct nlmsghdr, tcmsg); only an echo answers the asker."""
    tcmsg = struct.pack("BxxxiIII", socket.AF_UNSPEC, ifindex, 0, TC_H_ROOT, 0)
    return struct.pack("IHHII", 16 + len(tcmsg), RTM_GETQDISC, NLM_F_REQUEST | NLM_F_ECHO, 1, 0) + tcmsg


def sample(dev: str, interval_us: int, file: str) -> None:
    """Sample for ever, on the absolute clock, so that errors never add up."""
    ask = question(socket.if_nametoindex(dev))
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink, open(file, "wb", buffering=1 << 16) as sink:
        netlink.bind((0, 0))
        due_ns = time.monotonic_ns()
        while True:
            netlink.send(ask)
            answer = netlink.recv(4096)
            sink.write(struct.pack("<QI", time.monotonic_ns(), len(answer)) + answer)
            due_ns += interval_us * 1000
            time.sleep(max(due_ns - time.monotonic_ns(), 0) / 1e9)
