# SPDX-License-Identifier: GPL-2.0-or-later
"""Interfaces of the namespace that this thread is in: read and set by ioctl (netdevice(7), arp(7), linux/ethtool.h)."""

import ctypes
import fcntl
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCGIFADDR, SIOCGIFHWADDR = 0x8913, 0x8914, 0x8915, 0x8927
SIOCETHTOOL, SIOCSARP = 0x8946, 0x8955
IFF_UP = 0x1
ATF_COM, ATF_PERM = 0x02, 0x04
ETHTOOL = {"tso": (0x1E, 0x1F), "gso": (0x23, 0x24), "gro": (0x2B, 0x2C)}  # the commands that read and set each offload
READ_FEATURES, SET_FEATURES = 0x3A, 0x3B
WORDS, UDP_WORD, UDP_BIT = 2, 1, 1 << 1  # of all features; NETIF_F_GSO_UDP_L4 is the 33rd (linux/netdev_features.h)
IFREQ = struct.Struct("16s24s")
SOCKADDR = struct.Struct("H14s")
ARPREQ = struct.Struct("16s16si16s16s")


def bring_up(dev: str) -> None:
    """Set an interface up."""
    flags = struct.unpack_from("h", _ioctl(SIOCGIFFLAGS, dev))[0]
    _ioctl(SIOCSIFFLAGS, dev, struct.pack("h", flags | IFF_UP))


def address(dev: str) -> str:
    """Return an interface's IPv4 address."""
    return socket.inet_ntoa(_ioctl(SIOCGIFADDR, dev)[4:8])  # behind the family and the port of a sockaddr_in


def hardware(dev: str) -> bytes:
    """Return an interface's hardware address, as a struct sockaddr."""
    return _ioctl(SIOCGIFHWADDR, dev)[:16]


def pin_neighbour(dev: str, peer: str, hardware_address: bytes) -> None:
    """Add a permanent ARP entry."""
    protocol = SOCKADDR.pack(socket.AF_INET, bytes(2) + socket.inet_aton(peer))
    request = ARPREQ.pack(protocol, hardware_address, ATF_COM | ATF_PERM, bytes(16), dev.encode())
    with _socket() as descriptor:
        fcntl.ioctl(descriptor, SIOCSARP, request)


def switch_offloads_off(dev: str) -> list[str]:
    """Switch off what makes one super-packet of many; returns what is still on, which should be nothing."""
    for _, write in ETHTOOL.values():
        _ethtool(dev, write)
    return [offload for offload, (read, _) in ETHTOOL.items() if _ethtool(dev, read)]


def switch_udp_offload_off(dev: str) -> bool:
    """Let the kernel split what a program sends with UDP_SEGMENT; returns whether it does."""
    wanted = (ctypes.c_uint32 * (2 + 2 * WORDS))(SET_FEATURES, WORDS)
    wanted[2 + 2 * UDP_WORD] = UDP_BIT  # of those that are valid; none is requested
    _ioctl(SIOCETHTOOL, dev, struct.pack("P", ctypes.addressof(wanted)))
    found = (ctypes.c_uint32 * (2 + 4 * WORDS))(READ_FEATURES, WORDS)
    _ioctl(SIOCETHTOOL, dev, struct.pack("P", ctypes.addressof(found)))
    active = found[2 + 4 * UDP_WORD + 2]
    return not active & UDP_BIT


def _ethtool(dev: str, command: int) -> int:
    """Do one command of struct ethtool_value with the value 0, and return the value it left."""
    value = (ctypes.c_uint32 * 2)(command, 0)
    _ioctl(SIOCETHTOOL, dev, struct.pack("P", ctypes.addressof(value)))
    return value[1]


def _ioctl(request: int, dev: str, data: bytes = b"") -> bytes:
    """Do one ioctl on a struct ifreq, and return what follows the name."""
    with _socket() as descriptor:
        answer: bytes = fcntl.ioctl(descriptor, request, IFREQ.pack(dev.encode(), data))
    return answer[16:]


@contextmanager
def _socket() -> Iterator[int]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_of_this_namespace:
        yield any_of_this_namespace.fileno()
