# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab traces record`: a live path measured, its raw records kept, and a recording made of each phase."""

import json
import shutil
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from lab.base import strict_json
from lab.base.errors import UserError, field_error
from lab.node.system.tools import NodeError
from lab.traces.recording import Recording, write
from lab_live import record
from lab_live.node import recorder
from lab_live.node.recorder import Limits, PathRequest

FILLED = {
    "each": [("down", True, False), ("up", False, True)],
    "both": [("both", True, True)],
    "down": [("down", True, False)],
    "up": [("up", False, True)],
    "none": [],
}


def plan(ways: str, seconds: float, idle_s: float, rate_mbps: float, packet_bytes: int, probe_ms: float) -> PathRequest:
    """Build the request of a measurement: the idle path, then fillers one way after the other, or both at once."""
    if ways not in FILLED:
        raise field_error("lab traces record", "--ways", ways, f"one of {', '.join(FILLED)}")
    idle = [{"name": "idle", "seconds": idle_s, "down": False, "up": False}] if idle_s else []
    filled = [{"name": name, "seconds": seconds, "down": down, "up": up} for name, down, up in FILLED[ways]]
    return PathRequest([*idle, *filled], rate_mbps, packet_bytes, probe_ms)


def serve(port: int, most_mbps: float, most_seconds: float) -> Iterator[str]:
    """Serve recorders until interrupted."""
    yield f"serving on TCP and UDP port {port}, probes on UDP port {port + 1}; Ctrl-C ends it"
    try:
        recorder.serve(port, Limits(most_mbps, most_seconds), show=print)
    except KeyboardInterrupt:
        return
    except OSError as error:
        raise UserError(f"port {port}: {error.strerror}: must be free, and the next one too") from None


def measure(host: str, port: int, request: PathRequest, out: Path, with_opportunities: bool) -> Iterator[str]:
    """Measure a path and store it as a folder: raw/, record.json, one Parquet file per phase; yield its findings."""
    if out.exists():
        raise field_error("lab traces record", "--out", out, "a folder that does not exist yet")
    draft = out.parent / f".{out.name}.draft"
    shutil.rmtree(draft, ignore_errors=True)
    (draft / "raw").mkdir(parents=True)
    began = datetime.now(UTC)
    try:
        recorder.measure(host, port, request, draft / "raw")
        draft.rename(out)
    except NodeError as error:
        raise UserError(str(error)) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    about = {"server_address": f"{host}:{port}", "began": began.isoformat(timespec="seconds")}
    yield from store(out, about, with_opportunities)


def store(out: Path, about: Mapping[str, object], with_opportunities: bool) -> Iterator[str]:
    """Make recordings of the raw records in a folder, and a record.json that describes how they were made."""
    files: dict[str, object] = {}
    for name, found in _recordings(out / "raw", with_opportunities):
        file = f"{name}.parquet"
        write(found, out / file)
        files[file] = {"kind": found.kind, "meaning": found.meaning, "notes": found.notes}
        yield f"{out}/{file}: {found.frame.height} rows, {_in_words(found)}"
        yield from (f"  {note}" for note in found.notes)
    raw = strict_json.loads((out / "raw" / "record.json").read_text())
    words = {"made by": "lab traces record", **about, **raw, "files": files}
    (out / "record.json").write_text(json.dumps(words, indent=1))


def _recordings(raw: Path, with_opportunities: bool) -> Iterator[tuple[str, Recording]]:
    for phase in record.phases(raw):
        yield phase.name, record.recording(phase)
        for way in phase.ways if with_opportunities else ():
            stem = way if phase.name == way else f"{phase.name}-{way}"
            yield f"{stem}-opportunities", record.opportunities(phase, way)


def _in_words(found: Recording) -> str:
    units = {"rate_down_mbps": "Mb/s down", "rate_up_mbps": "Mb/s up", "rtt_ms": "ms round trip"}
    medians = {unit: found.frame[name].median() for name, unit in units.items() if name in found.frame}
    said = [f"{median:.1f} {unit}" for unit, median in medians.items() if isinstance(median, float)]
    return ", ".join(said) + " (medians)" if said else found.kind
