# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: flows of SEARCH whose application pauses, and when the kernel then reports that slow start is over."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.node.system.tools import NodeError
from tests.guest.flow import Flow, connect, finish, link_up, listening, pump, receiving

INFINITE_PKTS = 0x7FFFFFFF
BULK_BYTES, PATIENCE_S = 12_000_000, 60.0
LOSING_BYTES, PAUSE_S, AGAIN_BYTES, AGAIN_S = 1_800_000, 1.5, 100_000, 0.45
TRACING = Path("/sys/kernel/tracing")
Send = tuple[int, float]  # bytes, and seconds until the next ones
Case = tuple[str, dict[str, int]]  # a version, and parameters of its module
Exit = dict[str, float] | None


class Watch:
    """Looks at a flow after each of its moves, until it finds that slow start was left."""

    def __init__(self, flow: Flow) -> None:
        self.flow, self.begun_s = flow, time.monotonic()
        self.exit: Exit = None

    def look(self) -> None:
        info = self.flow.info()
        if self.exit is None and info["ssthresh_pkts"] != INFINITE_PKTS:
            t_s = time.monotonic() - self.begun_s
            self.exit = {"t_s": t_s, "cwnd_pkts": info["cwnd_pkts"], "retrans": info["total_retrans"]}

    def send(self, size_bytes: int, seconds: float) -> None:
        """Send so much more, as fast as the window lets; the rest of the time nothing."""
        self.flow.size_bytes += size_bytes
        end_s = time.monotonic() + seconds
        pump([self.flow], seconds, self.look)
        time.sleep(max(end_s - time.monotonic(), 0))


def watched(
    link: dict[str, Any], cases: list[Case], sends: list[Send], sysctls: dict[str, str] | None = None
) -> list[dict[str, Exit]]:
    """Send as an application does, and then as fast as can be: with each version and its parameters.

    Returns for each the exit that was seen before that last part began, and the one that was seen in all.
    """
    with link_up(link, sysctls):
        return [_watched(link, version, params, sends) for version, params in cases]


def _watched(link: dict[str, Any], version: str, params: dict[str, int], sends: list[Send]) -> dict[str, Exit]:
    server, client = link["ends"]
    with parameters(f"tcp_{version}", params), listening(server, version) as sock:
        watch = Watch(connect(link, sock, receiving(client), 0))
        for size_bytes, seconds in sends:
            watch.send(size_bytes, seconds)
        before = watch.exit
        watch.flow.size_bytes += BULK_BYTES
        pump([watch.flow], PATIENCE_S, watch.look)
        finish([watch.flow], PATIENCE_S)
    return {"before": before, "after": watch.exit}


@contextmanager
def parameters(module: str, values: dict[str, int]) -> Iterator[None]:
    """Set a module's parameters, for flows to come, and put them back."""
    files = {name: Path(f"/sys/module/{module}/parameters/{name}") for name in values}
    old = {name: file.read_text() for name, file in files.items()}
    try:
        for name, file in files.items():
            file.write_text(str(values[name]))
        yield
    finally:
        for name, file in files.items():
            file.write_text(old[name])


def slow_started_again(link: dict[str, Any], versions: list[str]) -> dict[str, dict[str, float]]:
    """Lose packets, pause for longer than a timeout, and go on; returns what the bins' tracepoint then reported."""
    with link_up(link):
        (TRACING / "events/search/search_bin/enable").write_text("1")
        return {version: _again(link, version) for version in versions}


def _again(link: dict[str, Any], version: str) -> dict[str, float]:
    server, client = link["ends"]
    with listening(server, version) as sock:
        watch = Watch(connect(link, sock, receiving(client), 0))
    watch.flow.size_bytes = LOSING_BYTES
    pump([watch.flow], PATIENCE_S, watch.look)
    if watch.exit is None:
        raise NodeError(f"{version}: {LOSING_BYTES} bytes must end slow start")
    epoch_at_most_s = time.monotonic() - watch.begun_s - watch.exit["t_s"]
    time.sleep(PAUSE_S)
    (TRACING / "trace").write_text("")
    watch.send(AGAIN_BYTES, AGAIN_S)
    info = watch.flow.info()
    bins = (TRACING / "trace").read_text().count("search_bin:")
    finish([watch.flow], PATIENCE_S)
    return {"epoch_at_most_s": epoch_at_most_s, "bins": bins} | {k: info[k] for k in ("cwnd_pkts", "ssthresh_pkts")}
