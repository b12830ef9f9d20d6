# SPDX-License-Identifier: GPL-2.0-or-later
"""The raw records of a long trial, made of a recorded one: its frames and its trace again and again, later each time.

`python -m tests.long_trial FOLDER` decodes and stores such a trial and prints the most memory that it took, in
MiB: the test reads that of a process of its own.
"""

import json
import re
import shutil
import struct
import sys
from pathlib import Path

import numpy as np

from lab.runs.certificate import certify
from lab.senders.traced import CAPTURED, SNAPLEN_BYTES, tables_of
from lab.tables import downloads
from lab.tables.header_capture import keep_headers
from lab.tables.pcapng import blocks_of
from lab.tables.trial_tables import write_tables

DRAFT = Path(__file__).parent / "data" / "draft"
TICKS_AT = 12  # of an enhanced packet block: its time, in two words
ACKS = 188  # in the recorded trace
LONG_S = 100_000  # more than all of it lasts


def write(folder: Path, frames: int) -> None:
    """Write the records of a trial with so many frames; the recorded one ends with its last whole data segment."""
    folder.mkdir()
    for name in ("formats", "link"):
        if (DRAFT / name).exists():
            shutil.copytree(DRAFT / name, folder / name)
    _capture(folder / CAPTURED, frames)
    _trace(folder / "trace.raw", frames // (3 * ACKS))


def _capture(file: Path, frames: int) -> None:
    """Append the last third of the recorded frames again and again."""
    (blocks,) = blocks_of(DRAFT / CAPTURED)
    begin = int(blocks.starts[2 * len(blocks.starts) // 3])
    end = int(blocks.starts[-1])
    part = blocks.data[begin:end]
    starts = blocks.starts[(blocks.starts >= begin) & (blocks.starts < end)] - begin
    high, low = (part.view("<u4")[(starts + TICKS_AT) // 4 + word].astype(np.int64) for word in (0, 1))
    ticks = high << 32 | low
    times = max(frames // len(starts), 1)
    with file.open("wb") as sink:
        sink.write(blocks.data[:end].tobytes())
        for number in range(1, times):
            later = part.copy()
            moved = ticks + number * int(ticks[-1] - ticks[0] + 1)
            later.view("<u4")[(starts + TICKS_AT) // 4] = moved >> 32
            later.view("<u4")[(starts + TICKS_AT) // 4 + 1] = moved & 0xFFFFFFFF
            sink.write(later.tobytes())


def _trace(file: Path, times: int) -> None:
    raw = (DRAFT / "trace.raw").read_bytes()
    page_bytes = int((DRAFT / "formats/page_bytes").read_text())
    pages = [raw[at : at + page_bytes].ljust(page_bytes, b"\0") for at in range(0, len(raw), page_bytes)]
    with file.open("wb") as sink:
        for number in range(max(times, 1)):
            for page in pages:
                (now_ns,) = struct.unpack_from("<Q", page)
                sink.write(struct.pack("<Q", now_ns + number * 10**10) + page[8:])


def store(folder: Path) -> None:
    plan, node = (json.loads((DRAFT / f"{name}.json").read_text()) for name in ("plan", "node"))
    plan["flows"][0]["duration_s"] = LONG_S
    node["downloads"][0]["until_ns"] += LONG_S * 10**9
    tables = tables_of(folder, node, {})
    measured = downloads.measure(plan, node, tables)
    ended = downloads.cut(tables, measured)
    write_tables(ended, folder)
    certify(plan, node, ended)
    keep_headers(folder / CAPTURED, folder / f"{CAPTURED}.zst", SNAPLEN_BYTES)


def most_mib() -> float:
    """Return the most memory that this program has had; getrusage(2) would count that of its parent, too."""
    (kib,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(kib) / 1024


if __name__ == "__main__":
    store(Path(sys.argv[1]))
    print(most_mib())
