# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded ACK streams through the loaded BPF program: the running kernel verifies it and executes it, ACK by ACK.

The program is packages/bpf/lab_bpf/program/search_bpf_replay.h, run by BPF_PROG_RUN; its structures are mirrored here.
`python -m lab_bpf.node.replay OBJECT STREAMS DECISIONS BPFTOOL...`
"""

import ctypes
import json
import os
import struct
import sys
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lab.node.system.tools import NodeError, run

SYS_BPF = 321  # x86-64
MAP_LOOKUP, MAP_UPDATE, OBJ_GET, PROG_RUN = 1, 2, 7, 10  # enum bpf_cmd
MOUNT = Path("/sys/fs/bpf")
BATCH = 256  # SEARCH_BPF_BATCH
HEAD, INPUT, DECISION = struct.Struct("<IIQ"), struct.Struct("<QQQiHH"), struct.Struct("<qQQQQQqIIII")
VERDICTS_AT = HEAD.size + BATCH * INPUT.size
DECISIONS_AT = VERDICTS_AT + BATCH * 4
BATCH_BYTES = DECISIONS_AT + BATCH * DECISION.size
BIN_OPEN, EXIT = 0, 8  # enum search_verdict
COLUMNS = 6  # of a stream: now_us, rtt_us, delivered_bytes, sent_bytes, limited, reset
Row = Sequence[int]
# A decision: the ACK, and search_bpf_batch's fields except what an exit may go back to.
KEPT = (0, 1, 2, 3, 6, 7, 8, 9)


class Program:
    """The program that the kernel holds, and its maps."""

    def __init__(self, pins: Path) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._program, self._batch = (self._get(pins / name) for name in ("search_replay", "search_batch"))
        self._content = ctypes.create_string_buffer(BATCH_BYTES)
        self._key = ctypes.c_uint32(0)

    def close(self) -> None:
        """Let go of the program, which the kernel then forgets."""
        for number in (self._program, self._batch):
            os.close(number)

    def decisions(self, rows: Sequence[Row]) -> list[list[int]]:
        """Return the decisions on a stream, up to the first exit."""
        found: list[list[int]] = []
        before_bytes = 0
        for first in range(0, len(rows), BATCH):
            batch = rows[first : first + BATCH]
            found += self._run(batch, first, before_bytes)
            if found and found[-1][-1] == EXIT:
                break
            before_bytes = batch[-1][2]
        return found

    def _run(self, batch: Sequence[Row], first: int, before_bytes: int) -> list[list[int]]:
        HEAD.pack_into(self._content, 0, len(batch), first == 0, before_bytes)
        for place, (now_us, rtt_us, delivered, sent, limited, reset) in enumerate(batch):
            values = (now_us, delivered, sent, rtt_us, bool(limited), bool(reset))
            INPUT.pack_into(self._content, HEAD.size + place * INPUT.size, *values)
        self._element(MAP_UPDATE)
        self._call(PROG_RUN, struct.pack("<I76x", self._program))
        self._element(MAP_LOOKUP)
        verdicts = struct.unpack_from(f"<{len(batch)}I", self._content, VERDICTS_AT)
        found = []
        for place, verdict in enumerate(verdicts):
            if verdict != BIN_OPEN:
                decision = DECISION.unpack_from(self._content, DECISIONS_AT + place * DECISION.size)
                found.append([first + place, *(decision[number] for number in KEPT)])
            if verdict == EXIT:
                break
        return found

    def _element(self, command: int) -> None:
        key, value = ctypes.addressof(self._key), ctypes.addressof(self._content)
        self._call(command, struct.pack("<IxxxxQQQ", self._batch, key, value, 0))

    def _get(self, pin: Path) -> int:
        name = ctypes.create_string_buffer(os.fsencode(pin))
        return self._call(OBJ_GET, struct.pack("<QII", ctypes.addressof(name), 0, 0))

    def _call(self, command: int, attributes: bytes) -> int:
        content = ctypes.create_string_buffer(attributes, len(attributes))
        done = int(self._libc.syscall(SYS_BPF, command, content, len(attributes)))
        if done < 0:
            raise NodeError(f"bpf: command={command}: {os.strerror(ctypes.get_errno())}")
        return done


@contextmanager
def held(program: Path, bpftool: list[str]) -> Iterator[Program]:
    """Let the kernel verify and hold a program, until the block ends."""
    mounted = MOUNT.is_mount()
    if not mounted:
        run("mount", "-t", "bpf", "bpf", str(MOUNT))
    pins = MOUNT / f"search-lab-{os.getpid()}"
    try:
        run(*bpftool, "prog", "loadall", str(program), str(pins), "pinmaps", str(pins))
        kernel = Program(pins)
        try:
            yield kernel
        finally:
            kernel.close()
    finally:
        for pin in pins.glob("*"):
            pin.unlink()
        if pins.is_dir():
            pins.rmdir()
        if not mounted:
            run("umount", str(MOUNT))


def write_streams(file: Path, streams: Sequence[Sequence[Row]]) -> None:
    """Write streams as 64-bit numbers: for each its length, then its rows."""
    numbers = array("q")
    for rows in streams:
        numbers.append(len(rows))
        for row in rows:
            numbers.extend(row)
    file.write_bytes(numbers.tobytes())


def read_streams(file: Path) -> Iterator[list[Row]]:
    """Read what `write_streams` wrote."""
    numbers = array("q", file.read_bytes())
    at = 0
    while at < len(numbers):
        begin, end = at + 1, at + 1 + numbers[at] * COLUMNS
        yield [numbers[row : row + COLUMNS] for row in range(begin, end, COLUMNS)]
        at = end


def replay(program: Path, streams: Path, decisions: Path, bpftool: list[str]) -> None:
    """Write the decisions of each stream, as JSON."""
    with held(program, bpftool) as kernel:
        decisions.write_text(json.dumps([kernel.decisions(rows) for rows in read_streams(streams)]))


if __name__ == "__main__":
    replay(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
