# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's trace ring buffer, decoded from its raw pages with the formats that tracefs gives.

Layout: kernel/trace/ring_buffer.c (struct buffer_data_page, enum ring_buffer_type) and events/header_event.
"""

import re
import struct
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.lib.recfunctions import repack_fields
from numpy.typing import NDArray

from lab.base.errors import UserError, field_error
from lab.base.plain_file import MEGABYTE, read_plain
from lab.node.system.libc import LIBC
from lab.tables.raw import gather

LATEST_NS = 1 << 62  # of a clock: with the differences after it, it fits 64 bits
PAGE_HEAD = 16  # u64 time stamp, u64 commit
COMMIT_MASK = (1 << 27) - 1  # above it: flags for missed events
MISSED = 1 << 31
PADDING, TIME_EXTEND, TIME_STAMP = 29, 30, 31
SHORT_BYTES = 28 * 4  # of a record whose kind is its length
WORDS = [0, *range(2, 30), 0, 2, 2]  # of a record of each kind with its head; 0: the next word has its bytes
FIELD = re.compile(
    r"field:(?P<type>.*?)(?P<name>\w+)(?:\[(?P<count>\d+)\])?;\s+offset:(?P<offset>\d+);\s+"
    r"size:(?P<size>\d+);\s+signed:(?P<signed>[01]);"
)
PIECE_BYTES = 1 << 22  # decoded at a time
Events = dict[str, NDArray[np.void]]
Format = tuple[int, np.dtype[np.void]]  # an event's number, and its record


def read_format(text: str) -> Format:
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
    if field["count"] and field["type"].strip() == "char":
        return f"S{size}"
    if field["count"] or size not in (1, 2, 4, 8):
        return f"V{size}"
    return f"<{'i' if field['signed'] == '1' else 'u'}{size}"


def read_events(raw: Path, formats: Path, names: Container[str] | None = None) -> Events:
    """Decode every event of a trace, by its name `system:event`, in order of field `t_ns`: the trace clock.

    The pages of several processors follow each other in the file, which is decoded piece by piece. names: the fields to
    keep of all events; absent: all.
    """
    known, page_bytes = _formats(formats)
    pieces: dict[str, list[NDArray[np.void]]] = {name: [] for name in known}
    for data in _read(raw, PIECE_BYTES // page_bytes * page_bytes):
        for name, records in _decoded(data, page_bytes, known, raw).items():
            pieces[name].append(records if names is None else _only(records, names))
    whole = {name: _in_order(np.concatenate(pieces.pop(name))) for name in known}
    LIBC.malloc_trim(0)  # the C library keeps the room of the pieces: of a long trial a quarter of all memory
    return whole


def _read(file: Path, piece_bytes: int) -> Iterator[NDArray[np.uint8]]:
    """Yield the content of a file in pieces; of an empty one, an empty piece."""
    try:
        with file.open("rb") as stream:
            yield np.frombuffer(stream.read(piece_bytes), dtype=np.uint8)
            while piece := stream.read(piece_bytes):
                yield np.frombuffer(piece, dtype=np.uint8)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}: must be a readable record") from None


def _only(records: NDArray[np.void], names: Container[str]) -> NDArray[np.void]:
    """Return records with their time and some of their other fields."""
    kept = [name for name in records.dtype.names or () if name == "t_ns" or name in names]
    return repack_fields(records[kept])


def _in_order(records: NDArray[np.void]) -> NDArray[np.void]:
    t_ns = records["t_ns"]
    return records if (t_ns[1:] >= t_ns[:-1]).all() else records[np.argsort(t_ns, kind="stable")]


def _decoded(data: NDArray[np.uint8], page_bytes: int, known: Mapping[str, Format], raw: Path) -> Events:
    """Decode every event of some whole pages, in the file's order."""
    pages = _pages(data, page_bytes, raw)
    words = data[: len(data) // 4 * 4].view("<u4")
    heads, firsts = _walk(words, pages, known.values(), raw)
    times_ns = _times_ns(words, heads, firsts, pages[:, 2])
    kinds = words[heads] & 31
    bodies = np.where(kinds == 0, 4 * heads + 8, 4 * heads + 4)[kinds < PADDING]
    numbers = gather(data, bodies, 2).view("<u2")[:, 0]
    timed = times_ns[kinds < PADDING]
    found = {}
    for name, (number, kind) in known.items():
        of_this = np.flatnonzero(numbers == number)
        found[name] = _records(data, bodies[of_this], timed[of_this], kind)  # in the file's order, as gather() needs
    return found


def _formats(folder: Path) -> tuple[dict[str, Format], int]:
    """Read the formats of events, and the size of a page; UserError where the guest wrote something else there."""
    try:
        files = {file.stem.replace(".", ":"): _text(file) for file in folder.glob("*.format")}
        known, page_bytes = {name: read_format(text) for name, text in files.items()}, int(_text(folder / "page_bytes"))
    except (OSError, ValueError, TypeError, OverflowError) as error:
        raise UserError(f"{folder}: {error}: must hold the formats of tracefs") from None
    if not PAGE_HEAD < page_bytes <= PIECE_BYTES:
        raise field_error(folder / "page_bytes", "bytes", page_bytes, f"above {PAGE_HEAD}, at most {PIECE_BYTES}")
    return known, page_bytes


def _text(file: Path) -> str:
    return read_plain(file, MEGABYTE).decode()


def _pages(data: NDArray[np.uint8], page_bytes: int, file: Path) -> NDArray[np.int64]:
    """Return one row per page: its first record's word, the word after its last one, and the time it starts from."""
    pages = []
    for start in range(0, len(data), page_bytes):
        if start + PAGE_HEAD > len(data):
            raise UserError(f"{file}: must be whole: it ends inside a page")
        now_ns, commit = struct.unpack_from("<QQ", data[start : start + PAGE_HEAD].tobytes())
        if commit & MISSED:
            raise UserError(f"{file}: must hold every event: the kernel overwrote some")
        if now_ns >= LATEST_NS:
            raise UserError(f"{file}: time: must be below 2^62 ns in each page")
        begin, end = start + PAGE_HEAD, start + PAGE_HEAD + (commit & COMMIT_MASK)
        if end > len(data):
            raise UserError(f"{file}: must be whole: it ends inside a page")
        if end > start + page_bytes:
            raise UserError(f"{file}: must be whole: a page's records pass its end")
        pages.append((begin // 4, end // 4, now_ns))
    return np.array(pages, dtype=np.int64).reshape(-1, 3)


def _walk(
    words: NDArray[np.uint32], pages: NDArray[np.int64], known: Iterable[Format], file: Path
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the 32-bit word at which each record begins, and which record is the first of each page.

    Most records are an event's that follows itself: such a run is passed in one step.
    """
    places, last, after = _runs(words, known)
    numbers = np.full(len(words), -1, dtype=np.int32)
    numbers[places] = np.arange(len(places))
    view, number_of, stop_of = (each.data for each in (words, numbers, after[last]))  # faster than the arrays
    heads: list[int] = []
    passed: list[int] = []
    for at, end, _ in pages.tolist():
        while at < end - 1:  # a record is two words or more
            head = view[at]
            if head == PADDING:
                break
            if (number := number_of[at]) >= 0 and stop_of[number] <= end:
                passed.append(number)
                at = stop_of[number]
                continue
            heads.append(at)
            at += WORDS[head & 31] or 1 + (view[at + 1] >> 2)
        if at != end and (at > end or view[at] != PADDING):  # padding: nothing more on this page
            raise UserError(f"{file}: must be whole: a record passes the end of its page")
    of_runs = [places[number : last[number] + 1] for number in passed]
    every = np.sort(np.concatenate([*of_runs, np.array(heads, dtype=np.int64)]))
    return every, np.searchsorted(every, pages[:, 0])


def _runs(words: NDArray[np.uint32], known: Iterable[Format]) -> tuple[NDArray[np.int64], ...]:
    """Return the places of what looks like a long record of a known event (data may), and where each leads.

    Between them: the number of the last place of the run that each is in.
    """
    found = np.zeros(len(words), dtype=bool)
    for _, kind in known:
        if kind.itemsize > SHORT_BYTES:
            found[:-1] |= words[1:] == 4 + (kind.itemsize + 3) // 4 * 4
    places = np.flatnonzero(found & (words & 31 == 0))
    after = places + 1 + words[np.minimum(places + 1, len(words) - 1)] // 4
    ends = np.flatnonzero(np.append(after[:-1] != places[1:], True)[: len(places)])
    return places, np.repeat(ends, np.diff(ends, prepend=-1)), after


def _times_ns(
    words: NDArray[np.uint32], heads: NDArray[np.int64], firsts: NDArray[np.int64], page_ns: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return when each record was written: by steps from the page's time or from the last absolute time stamp."""
    head, long = words[heads].astype(np.int64), words[heads + 1].astype(np.int64) << 27
    kind, delta = head & 31, head >> 5
    steps = np.select([kind < PADDING, kind == TIME_EXTEND], [delta, delta + long], 0)
    elapsed = np.cumsum(steps)
    stamps = np.flatnonzero(kind == TIME_STAMP)
    known = np.concatenate([firsts, stamps])
    page_base_ns = page_ns - np.concatenate([[0], elapsed])[firsts]
    base_ns = np.concatenate([page_base_ns, (delta + long - elapsed)[stamps]])
    order = np.argsort(known, kind="stable")  # a stamp that begins a page overrules its time
    latest = np.searchsorted(known[order], np.arange(len(heads)), side="right") - 1
    return np.asarray(base_ns[order][latest] + elapsed)


def _records(
    data: NDArray[np.uint8], starts: NDArray[np.int64], times_ns: NDArray[np.int64], kind: np.dtype[np.void]
) -> NDArray[np.void]:
    """Copy records out, each with its time behind it."""
    assert kind.fields is not None
    bare_bytes = kind.itemsize
    rows = gather(data, starts, bare_bytes + 8)
    rows[:, bare_bytes:] = np.ascontiguousarray(times_ns, dtype="<i8").view(np.uint8).reshape(-1, 8)
    timed = {"t_ns": ("<i8", bare_bytes), **{name: kind.fields[name][:2] for name in kind.names or ()}}
    names, formats, offsets = list(timed), [form for form, _ in timed.values()], [at for _, at in timed.values()]
    whole = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": bare_bytes + 8})
    return rows.view(whole)[:, 0]
