# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: many flows at once."""

import resource
from typing import Any

from tests.guest.flow import connect, finish, link_up, listening, receiving

SIZE_BYTES = 20_000


def crowd(link: dict[str, Any], algorithms: list[str], flows: int) -> dict[str, Any]:
    """Open flows, the senders by turns, before the first byte is sent; then move what each has to send."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * flows, 4 * flows))
    server, client = link["ends"]
    opened = []
    with link_up(link):
        for number in range(flows):
            with listening(server, algorithms[number % len(algorithms)]) as sock:
                opened.append(connect(link, sock, receiving(client), SIZE_BYTES))
        finish(opened, 600)
    most_cwnd_pkts = max(flow.most_cwnd_pkts for flow in opened)
    return {"got_bytes": sum(flow.got_bytes for flow in opened), "most_cwnd_pkts": most_cwnd_pkts}
