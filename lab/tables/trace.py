# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's trace ring buffer, decoded from its raw pages with the formats that tracefs gives.

Layout: kernel/trace/ring_buffer.c (struct buffer_data_page, enum ring_buffer_type) and events/header_event.
"""

import re
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab.errors import UserError

PAGE_HEAD = 16  # u64 time stamp, u64 commit
COMMIT_MASK = (1 << 27) - 1  # above it: flags for missed events
MISSED = 1 << 31
PADDING, TIME_EXTEND, TIME_STAMP = 29, 30, 31
FIELD = re.compile(
    r"field:(?P<type>.*?)(?P<name>\w+)(?:\[(?P<count>\d+)\])?;\s+offset:(?P<offset>\d+);\s+"
    r"size:(?P<size>\d+);\s+signed:(?P<signed>[01]);"
)
Events = dict[str, NDArray[np.void]]


def read_format(text: str) -> tuple[int, np.dtype[np.void]]:
    """Read an event's format file: its id, and the type of its record."""
    number = re.search(r"^ID: (\d+)$", text, re.MULTILINE)
    if not number:
        raise UserError("tracefs: an event's format without ID")
    fields = [match.groupdict() for match in FIELD.finditer(text)]
    size = max(int(f["offset"]) + int(f["size"]) for f in fields)
    return int(number[1]), np.dtype(
        {
            "names": [f["name"] for f in fields],
            "offsets": [int(f["offset"]) for f in fields],
            "formats": [_kind(f) for f in fields],
            "itemsize": size,
        }
    )


def _kind(field: dict[str, str]) -> str:
    size = int(field["size"])
    if field["count"] or size not in (1, 2, 4, 8):
        return f"V{size}"
    return f"<{'i' if field['signed'] == '1' else 'u'}{size}"


def read_events(raw: Path, formats: Path) -> Events:
    """Decode every event of a trace, by its name `system:event`; field `t_ns` is the trace clock."""
    known = {file.stem.replace(".", ":"): read_format(file.read_text()) for file in formats.glob("*.format")}
    page_bytes = int((formats / "page_bytes").read_text())
    data = raw.read_bytes()
    found: dict[int, list[tuple[int, int]]] = {number: [] for number, _ in known.values()}
    for start in range(0, len(data), page_bytes):
        _walk_page(data, start, raw, found)
    return {name: _records(data, found[number], kind) for name, (number, kind) in known.items()}


def _walk_page(data: bytes, start: int, file: Path, found: dict[int, list[tuple[int, int]]]) -> None:
    """Note when and where each event of a page lies."""
    if start + PAGE_HEAD > len(data):
        raise UserError(f"{file}: must be whole: it ends inside a page")
    now, commit = struct.unpack_from("<QQ", data, start)
    if commit & MISSED:
        raise UserError(f"{file}: must hold every event: the kernel overwrote some")
    at, end = start + PAGE_HEAD, start + PAGE_HEAD + (commit & COMMIT_MASK)
    if end > len(data):
        raise UserError(f"{file}: must be whole: it ends inside a page")
    two = struct.Struct("<II").unpack_from
    while at < end:
        word, first = two(data, at) if at + 8 <= end else (*struct.unpack_from("<I", data, at), 0)
        kind, delta = word & 31, word >> 5
        if kind >= TIME_EXTEND:
            now = now + delta + (first << 27) if kind == TIME_EXTEND else delta + (first << 27)
            at += 8
            continue
        if kind == PADDING:
            if not delta:
                return
            at += 4 + first
            continue
        now += delta
        body, size = (at + 8, 4 + first) if kind == 0 else (at + 4, 4 + 4 * kind)
        number = data[body] | data[body + 1] << 8
        if number in found:
            found[number].append((now, body))
        at += size


def _records(data: bytes, places: list[tuple[int, int]], kind: np.dtype[np.void]) -> NDArray[np.void]:
    times = np.array([now for now, _ in places], dtype=np.int64)
    starts = np.array([body for _, body in places], dtype=np.int64)
    padded = np.frombuffer(data + bytes(kind.itemsize), dtype=np.uint8)
    windows = np.lib.stride_tricks.sliding_window_view(padded, kind.itemsize)
    bare = np.ascontiguousarray(windows[starts]).view(kind).reshape(-1)
    timed = np.empty(len(bare), dtype=[("t_ns", "<i8"), *((name, kind.fields[name][0]) for name in kind.names or ())])  # type: ignore[index]
    timed["t_ns"] = times
    for name in kind.names or ():
        timed[name] = bare[name]
    return timed
