# SPDX-License-Identifier: GPL-2.0-or-later
"""Interfaces of the namespace that this thread is in: read and set by ioctl (netdevice(7), arp(7), linux/ethtool.h)."""

import ctypes
import fcntl
import socket
import struct

SIOCGIFADDR, SIOCGIFHWADDR, SIOCETHTOOL, SIOCSARP = 0x8915, 0x8927, 0x8946, 0x8955
ATF_COM, ATF_PERM = 0x02, 0x04
READ_FEATURES, SET_FEATURES = 0x3A, 0x3B
OFFLOADS = {"tso": 0b11101 << 16, "gso": 1 << 11, "gro": 1 << 14}  # NETIF_F_ALL_TSO, ... (linux/netdev_features.h)
UDP_OFFLOAD = 1 << 33  # NETIF_F_GSO_UDP_L4
IFREQ = struct.Struct("16s24s")
SOCKADDR = struct.Struct("H14s")
ARPREQ = struct.Struct("16s16si16s16s")


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
    with _socket() as of_namespace:
        fcntl.ioctl(of_namespace, SIOCSARP, request)


def switch_offloads_off(dev: str) -> list[str]:
    """Switch off what makes one super-packet of many; returns what is still on, which should be nothing."""
    active = _switch_off(dev, sum(OFFLOADS.values()))
    return [offload for offload, features in OFFLOADS.items() if active & features]


def switch_udp_offload_off(dev: str) -> bool:
    """Let the kernel split what a program sends with UDP_SEGMENT; returns whether it does."""
    return not _switch_off(dev, UDP_OFFLOAD) & UDP_OFFLOAD


def _switch_off(dev: str, features: int) -> int:
    """Switch features off, each a bit, and return those that are on."""
    low, high = features & 0xFFFFFFFF, features >> 32
    _ethtool(dev, SET_FEATURES, low, 0, high, 0)  # of both words: what is valid, and of that what is requested
    _, _, active_low, _, _, _, active_high, _ = _ethtool(dev, READ_FEATURES, *[0] * 8)
    return active_low | active_high << 32


def _ethtool(dev: str, command: int, *words: int) -> list[int]:
    """Do a command for two words of features, and return the words that it left."""
    values = (ctypes.c_uint32 * (2 + len(words)))(command, 2, *words)
    _ioctl(SIOCETHTOOL, dev, struct.pack("P", ctypes.addressof(values)))
    return values[2:]


def _ioctl(request: int, dev: str, data: bytes = b"") -> bytes:
    """Do one ioctl on a struct ifreq, and return what follows the name."""
    with _socket() as of_namespace:
        answer: bytes = fcntl.ioctl(of_namespace, request, IFREQ.pack(dev.encode(), data))
    return answer[16:]


def _socket() -> socket.socket:
    """Return any socket of this namespace."""
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
