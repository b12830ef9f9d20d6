# SPDX-License-Identifier: GPL-2.0-or-later
"""The state that a congestion control keeps in its socket, whose size the compiler does not check by itself."""

import re

from lab_try.module.diagnostics import Diagnostic
from lab_try.module.source import OwnSource

USE = re.compile(r"struct\s+(\w+)\s*\*\s*(?:const\s+)?\w+\s*=\s*(?:\([^()]*\)\s*)?inet_csk_ca\s*\(")
TAG = re.compile(r"DW_TAG_(\w+)")
NAME = re.compile(r"DW_AT_name\s*:.*?(?:\(indirect string[^)]*\): )?(\w+)\s*$")
SIZE = re.compile(r"DW_AT_byte_size\s*:\s*(\d+|0x[0-9a-f]+)")
RULE = (
    "at most {} bytes, what a socket has (ICSK_CA_PRIV_SIZE; 768 for lab try with --kernel large-sockets): "
    "allocate the rest in init with kzalloc and GFP_ATOMIC, keep its pointer there, and free it in release"
)


def oversized_state(source: OwnSource, dwarf: str, socket_bytes: int) -> list[Diagnostic]:
    """Find each struct of the source that inet_csk_ca() is assigned to and that no socket can hold."""
    sizes = struct_sizes(dwarf)
    found = []
    for name, content in source.files.items():
        text = content.decode(errors="replace")
        for use in USE.finditer(text):
            size_bytes = sizes.get(use[1], 0)
            if size_bytes > socket_bytes:
                line = text.count("\n", 0, use.start()) + 1
                message = f"struct {use[1]} has {size_bytes} bytes: must have {RULE.format(socket_bytes)}"
                found.append(Diagnostic(str(source.folder / name), line, 1, "error", message))
    return found[:1]


def struct_sizes(dwarf: str) -> dict[str, int]:
    """Read the size of each named struct from readelf's dump of debugging information."""
    sizes: dict[str, int] = {}
    tag = name = ""
    for line in dwarf.splitlines():
        if found := TAG.search(line):
            tag, name = found[1], ""
        elif tag == "structure_type":
            if found := NAME.search(line):
                name = found[1]
            elif name and (found := SIZE.search(line)):
                sizes.setdefault(name, int(found[1], 0))
    return sizes
