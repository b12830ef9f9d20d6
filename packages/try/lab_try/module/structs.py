# SPDX-License-Identifier: GPL-2.0-or-later
"""The state that a congestion control keeps in its socket, whose size the compiler does not check by itself."""

import re
from collections.abc import Iterator
from itertools import chain
from operator import itemgetter

from lab_try.module.diagnostics import Diagnostic
from lab_try.module.source import OwnSource

STATE = r"(?:\([^()]*\)\s*)?(?:inet_csk_ca\s*\(|inet_csk\s*\([^()]*\)\s*->\s*icsk_ca_priv\b(?!\s*\[))"
POINTER = r"(?<!\w)(?:struct\s+)?(\w++)\s*+\*\s*+(?:const\s+)?"
USES = (  # of the state by a pointer: its value from the begin, a cast, what a function returns
    re.compile(rf"{POINTER}\w++\s*+=\s*{STATE}"),
    re.compile(rf"\(\s*(?:const\s+)?{POINTER}\)\s*{STATE}"),
    re.compile(rf"{POINTER}\w++\s*+\([^()]*\)\s*\{{\s*return\s+{STATE}"),
)
LATER = re.compile(rf"[;{{}}():,]\s*(\w+)\s*=\s*{STATE}")  # a variable that was declared before
DECLARED = re.compile(r"(?<!\w)(\w++)\s*+\*([\s\w,*]*+)")  # a type, and the pointers to it
MOST_BEFORE = 2000  # characters between the two
WORD = re.compile(r"\w+")
TAG = re.compile(r"<([0-9a-f]+)>: Abbrev.*DW_TAG_(\w+)")
TYPE = re.compile(r"DW_AT_type\s*:\s*<0x([0-9a-f]+)>")
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
    for name in source.files:
        text = source.code(name)
        for struct, place in sorted(types_of_states(text), key=itemgetter(1)):
            size_bytes = sizes.get(struct, 0)
            if size_bytes > socket_bytes:
                line = text.count("\n", 0, place) + 1
                message = f"struct {struct} has {size_bytes} bytes: must have {RULE.format(socket_bytes)}"
                found.append(Diagnostic(str(source.folder / name), line, 1, "error", message))
    return found[:1]


def types_of_states(text: str) -> Iterator[tuple[str, int]]:
    """Yield each type through which code reaches a socket's state, and where."""
    for use in chain(*(pattern.finditer(text) for pattern in USES)):
        yield use[1], use.start()
    for use in LATER.finditer(text):
        before = text[max(use.start() - MOST_BEFORE, 0) : use.start(1)].rpartition("\n}")[2]
        for declared in DECLARED.finditer(before):
            if use[1] in WORD.findall(declared[2]):
                yield declared[1], use.start(1)


def struct_sizes(dwarf: str) -> dict[str, int]:
    """Read the size of each struct from readelf's dump of debugging information, by its name or that of its typedef."""
    sizes: dict[str, int] = {}
    of_place: dict[str, int] = {}
    typedefs: dict[str, str] = {}
    tag = name = place = ""
    for line in dwarf.splitlines():
        if found := TAG.search(line):
            place, tag, name = found[1], found[2], ""
        elif found := NAME.search(line):
            name = found[1]
        elif tag == "typedef" and (found := TYPE.search(line)):
            typedefs[name] = found[1]
        elif tag == "structure_type" and (found := SIZE.search(line)):
            of_place[place] = int(found[1], 0)
            sizes.setdefault(name, of_place[place])
    return {name: of_place[place] for name, place in typedefs.items() if place in of_place} | sizes
