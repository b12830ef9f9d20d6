# SPDX-License-Identifier: GPL-2.0-or-later
"""rtnetlink: attributes, and requests that the kernel answers or refuses in its own words."""

import errno
import os
import socket
import struct
from collections.abc import Iterator
from typing import Self

from lab.node.net.namespace import entered
from lab.node.system.tools import NodeError

RTM_NEWQDISC, RTM_GETQDISC = 36, 38
NLM_F_REQUEST, NLM_F_ACK, NLM_F_ECHO, NLM_F_REPLACE, NLM_F_EXCL, NLM_F_CREATE = 0x1, 0x4, 0x8, 0x100, 0x200, 0x400
NLM_F_DUMP = 0x300
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLMSGERR_ATTR_MSG = 1
NLA_F_NESTED, NLA_TYPE_MASK = 0x8000, 0x3FFF
SOL_NETLINK, NETLINK_EXT_ACK = 270, 11
TC_H_ROOT = 0xFFFFFFFF
TCA_KIND, TCA_OPTIONS, TCA_STATS2, TCA_STATS_APP = 1, 2, 7, 4
HEAD = struct.Struct("IHHII")  # nlmsghdr: length, type, flags, sequence number, port
TCMSG = struct.Struct("BxxxiIII")  # family, ifindex, handle, parent, info


def attribute(kind: int, data: bytes) -> bytes:
    """Build one netlink attribute (struct nlattr), padded."""
    return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def attributes(data: bytes) -> dict[int, bytes]:
    """Split netlink attributes, by type."""
    found, at = {}, 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("HH", data, at)
        if length < 4:
            break
        found[kind & NLA_TYPE_MASK] = data[at + 4 : at + length]
        at += (length + 3) // 4 * 4
    return found


class Netlink:
    """A socket of the namespace in which it is made; `subject` begins the text of a refusal."""

    def __init__(self, subject: str) -> None:
        self._subject = subject
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self._socket.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self._socket.bind((0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def request(self, kind: int, flags: int, body: bytes) -> list[bytes]:
        """Send a request and return the messages that answer it, without heads; NodeError in the kernel's words."""
        self._socket.send(HEAD.pack(HEAD.size + len(body), kind, NLM_F_REQUEST | NLM_F_ACK | flags, 1, 0) + body)
        answers: list[bytes] = []
        while True:
            for kind, flags, message in _messages(self._socket.recv(1 << 16)):
                if kind == NLMSG_ERROR:
                    self._accept(flags, message)
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    return answers
                answers.append(message)

    def _accept(self, flags: int, message: bytes) -> None:
        """Raise what the kernel refused (struct nlmsgerr, and its text where the kernel gave one)."""
        (code,) = struct.unpack_from("i", message)
        if code:
            reason = _reason(flags, message) or errno.errorcode.get(-code, str(-code))
            raise NodeError(f"{self._subject}: {reason}: {os.strerror(-code)}")


class Qdiscs(Netlink):
    """The qdiscs of one interface of a node, over a socket that stays in the node's namespace."""

    def __init__(self, node: str, dev: str) -> None:
        self.where = f"{node}:{dev}"
        with entered(node):
            super().__init__(f"{self.where}: qdisc")
            self.ifindex = socket.if_nametoindex(dev)

    def make(self, kind: str, options: bytes, parent: int = TC_H_ROOT, handle: int = 0x10000) -> None:
        """Make a qdisc in the place of what is there."""
        self._ask(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, parent, handle, _described(kind, options))

    def change(self, kind: str, options: bytes, parent: int = TC_H_ROOT, handle: int = 0x10000) -> None:
        """Change a qdisc."""
        self._ask(RTM_NEWQDISC, 0, parent, handle, _described(kind, options))

    def shown(self, kind: str, parent: int = TC_H_ROOT) -> dict[int, bytes]:
        """Return what the kernel shows of a qdisc; NodeError where another kind is there."""
        shown = attributes(self._ask(RTM_GETQDISC, NLM_F_ECHO, parent, 0, b""))  # only an echo answers the asker
        there = shown[TCA_KIND].rstrip(b"\0").decode()
        if there != kind:
            raise NodeError(f"{self.where}: qdisc={there}: must be {kind}, as requested")
        return shown

    def _ask(self, request: int, flags: int, parent: int, handle: int, body: bytes) -> bytes:
        """Send a request and return the attributes of what answers it."""
        body = TCMSG.pack(socket.AF_UNSPEC, self.ifindex, handle, parent, 0) + body
        answers = self.request(request, flags, body)
        return answers[-1][TCMSG.size :] if answers else b""


def _described(kind: str, options: bytes) -> bytes:
    return attribute(TCA_KIND, kind.encode() + b"\0") + attribute(TCA_OPTIONS | NLA_F_NESTED, options)


def _messages(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Split what one recv() gave: type, flags and body of each message."""
    at = 0
    while at < len(data):
        length, kind, flags, _, _ = HEAD.unpack_from(data, at)
        yield kind, flags, data[at + HEAD.size : at + length]
        at += (length + 3) // 4 * 4


def _reason(flags: int, message: bytes) -> str:
    if not flags & NLM_F_ACK_TLVS:
        return ""
    (request_bytes,) = struct.unpack_from("I", message, 4)
    behind = 4 + (HEAD.size if flags & NLM_F_CAPPED else (request_bytes + 3) // 4 * 4)
    return attributes(message[behind:]).get(NLMSGERR_ATTR_MSG, b"").rstrip(b"\0").decode()
