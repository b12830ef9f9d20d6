# SPDX-License-Identifier: GPL-2.0-or-later
"""What an ELF file states of itself: its processor, its loader, the libraries that it needs and where they may lie.

Read by this file and not by ldd: a loader that lists a stranger's program may run code of it.
"""

import struct
from dataclasses import dataclass

from lab.base.errors import UserError

MAGIC = b"\x7fELF"
ELF64, LITTLE = 2, 1
X86_64 = 62
MACHINES = {3: "i386", 8: "MIPS", 20: "PowerPC", 21: "PowerPC64", 22: "S390", 40: "ARM", 183: "AArch64", 243: "RISC-V"}
LOAD, DYNAMIC, INTERP = 1, 2, 3  # of program headers
NEEDED, STRTAB, RPATH, RUNPATH = 1, 5, 15, 29  # of the dynamic section
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
ENTRY = struct.Struct("<qQ")
MOST_ENTRIES, MOST_NAME = 4096, 1024


@dataclass(frozen=True)
class Elf:
    """A program or a library."""

    interpreter: str | None
    needed: tuple[str, ...]
    folders: tuple[str, ...]  # where it wants them to be looked for


def is_elf(content: bytes) -> bool:
    """Return whether a file begins as an ELF file does."""
    return content.startswith(MAGIC)


def read(content: bytes, name: str) -> Elf:
    """Read an ELF file; UserError where it is damaged, or for another processor."""
    if len(content) < HEADER.size:
        raise UserError(f"{name}: must be a whole ELF file")
    header = HEADER.unpack_from(content)
    ident, machine = header[0], header[2]
    if machine != X86_64 or ident[4] != ELF64 or ident[5] != LITTLE:
        raise UserError(f"{name}: processor={MACHINES.get(machine, machine)}: must be x86-64")
    try:
        return _read(content, header[5], header[9], header[10])
    except (struct.error, ValueError, OverflowError):
        raise UserError(f"{name}: must be a whole ELF file") from None


def _read(content: bytes, at: int, size: int, count: int) -> Elf:
    if size < SEGMENT.size:
        raise ValueError("segments")
    segments = [SEGMENT.unpack_from(content, at + number * size) for number in range(count)]
    loaded = [(each[3], each[2], each[5]) for each in segments if each[0] == LOAD]
    interpreter = next((_text(content, each[2]) for each in segments if each[0] == INTERP), None)
    dynamic = next((_entries(content, each[2], each[5]) for each in segments if each[0] == DYNAMIC), [])
    table = next((value for tag, value in dynamic if tag == STRTAB), None)
    if table is None:
        return Elf(interpreter, (), ())
    names = _place(loaded, table)
    needed = tuple(_text(content, names + value) for tag, value in dynamic if tag == NEEDED)
    paths = [_text(content, names + value) for tag, value in dynamic if tag in (RPATH, RUNPATH)]
    return Elf(interpreter, needed, tuple(folder for path in paths for folder in path.split(":") if folder))


def _entries(content: bytes, at: int, size: int) -> list[tuple[int, int]]:
    found = []
    for number in range(min(size // ENTRY.size, MOST_ENTRIES)):
        tag, value = ENTRY.unpack_from(content, at + number * ENTRY.size)
        if not tag:
            break
        found.append((tag, value))
    return found


def _place(loaded: list[tuple[int, int, int]], address: int) -> int:
    """Return where in the file an address of memory lies."""
    for virtual, offset, size in loaded:
        if virtual <= address < virtual + size:
            return offset + address - virtual
    raise ValueError("address")


def _text(content: bytes, at: int) -> str:
    end = content.index(b"\0", at, at + MOST_NAME)
    return content[at:end].decode()
