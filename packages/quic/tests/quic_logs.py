# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of qlogs for tests."""

import json


def event(name: str, time_ms: float, number: int, kind: str = "1RTT") -> str:
    """Return the event of a packet that was sent or received."""
    data = {"header": {"packet_type": kind, "packet_number": number}}
    record = {"time": time_ms, "name": f"transport:packet_{name}", "data": data}
    return "\x1e" + json.dumps(record, separators=(",", ":"))
