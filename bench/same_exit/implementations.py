# SPDX-License-Identifier: GPL-2.0-or-later
"""The implementations that are given the same streams; each returns its decisions up to the first exit."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab_bpf.node import replay
from lab_bpf.node.transfer import Transfer
from lab_bpf.program import build
from lab_bpf.stock import run_stock

from bench.same_exit.stream import DECISION, Decisions, Stream
from lab.base.errors import UserError
from lab.base.scratch import scratch_folder
from lab.judge.search_replay import BIN, replay_bins, version

SEARCH = "search"
PROGRAM, STREAMS, DECISIONS, TRANSFER = "search.bpf.o", "streams", "decisions.json", "transfer.json"
PRINTED = [name for name in (BIN.names or ()) if name != "reserved"]  # by lab-quic
BPFTOOL = "bpftool"


def by_core(library: Path, streams: Sequence[Stream]) -> list[Decisions]:
    """Decide by the core in user space."""
    params = version(library, SEARCH).params
    found = []
    for stream in streams:
        now_us, rtt_us, delivered, sent, limited, reset = stream
        bins = replay_bins(library, now_us, rtt_us, delivered, params, sent_bytes=sent, limited=limited, reset=reset)
        found.append([tuple(int(row[name]) for name in DECISION) for row in bins])
    return found


def by_quic(program: Path, streams: Sequence[Stream]) -> list[Decisions]:
    """Decide by lab-quic, which has the core by Rust's FFI."""
    return [_by_quic(program, stream) for stream in streams]


def _by_quic(program: Path, stream: Stream) -> Decisions:
    text = "\n".join(" ".join(map(str, row)) for row in stream.rows())
    done = subprocess.run([program, "replay", SEARCH], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(done.stdout.strip())
    rows = [dict(zip(PRINTED, map(int, line.split()), strict=True)) for line in done.stdout.splitlines()]
    return [tuple(row[name] for name in DECISION) for row in rows]


def by_bpf_here(streams: Sequence[Stream]) -> list[Decisions]:
    """Decide by the program in the running kernel, as root."""
    built = build.ensure(SEARCH)
    with replay.held(built.program, built.bpftool) as program:
        return [_tuples(program.decisions(stream.rows())) for stream in streams]


def by_bpf_stock(streams: Sequence[Stream]) -> tuple[list[Decisions], Transfer]:
    """Decide by the program in Debian's stock kernel; also return what a download with it did there."""
    with scratch_folder() as scratch:
        replay.write_streams(scratch / STREAMS, [stream.rows() for stream in streams])
        files = {PROGRAM: build.ensure(SEARCH).program, STREAMS: scratch / STREAMS}
        back = run_stock(
            files,
            ("lab_bpf.node.transfer", f"/job/{PROGRAM}", f"/job/results/{TRANSFER}", BPFTOOL),
            ("lab_bpf.node.replay", f"/job/{PROGRAM}", f"/job/{STREAMS}", f"/job/results/{DECISIONS}", BPFTOOL),
        )
    transfer: Transfer = json.loads(back[TRANSFER])
    return [_tuples(rows) for rows in json.loads(back[DECISIONS])], transfer


def _tuples(rows: Sequence[Sequence[int]]) -> Decisions:
    return [tuple(row) for row in rows]
