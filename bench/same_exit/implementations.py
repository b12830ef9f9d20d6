# SPDX-License-Identifier: GPL-2.0-or-later
"""The implementations that are given the same streams; each returns its decisions up to the first exit."""

import json
from collections.abc import Sequence
from pathlib import Path

from lab_bpf.node import replay
from lab_bpf.node.transfer import Transfer
from lab_bpf.program import build
from lab_bpf.stock import run_stock
from lab_papers.search_replay import replay_bins, version

from bench.same_exit import quic
from bench.same_exit.stream import DECISION, Decisions, Stream
from lab.base.scratch import scratch_folder

SEARCH = "search"
PROGRAM, STREAMS, DECISIONS, TRANSFER = "search.bpf.o", "streams", "decisions.json", "transfer.json"
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
    return [quic.decided(program, SEARCH, stream) for stream in streams]


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
