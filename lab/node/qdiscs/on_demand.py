# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own `on_demand`: a return link that grants capacity after a request."""

from lab.node.qdiscs.kind import ByNetlink, Spec
from lab.node.qdiscs.words import Settings, State, options

REPORTS = {"backlog": 0, "new": 1, "rate": 2}
SETTINGS: Settings = {
    "frame_us": (2, "I"),
    "phase_us": (3, "I"),
    "guaranteed_pkts": (4, "I"),
    "request_delay_us": (5, "I"),
    "cap_bytes": (6, "I"),
    "report": (7, "I"),
    "limit_bytes": (8, "I"),
    "period_us": (9, "I"),  # between reports of a rate; 0 for the others
}
STATE = State(
    "I frame_us I phase_us I guaranteed_pkts I request_delay_us I cap_bytes I report I limit_bytes I period_us "
    "Q frames Q requested_bytes Q granted_bytes Q lapsed_bytes Q guaranteed_sent_pkts"
)


def _options(spec: Spec) -> bytes:
    return options(SETTINGS, spec | {"report": REPORTS[spec["report"]]})


def _got(data: bytes) -> Spec:
    state = STATE.numbers(data)
    report = next(name for name, number in REPORTS.items() if number == state["report"])
    return {name: state[name] for name in SETTINGS} | {"report": report}


def _statistics(data: bytes) -> dict[str, int | None]:
    return STATE.counted(data, SETTINGS)


KIND = ByNetlink(_options, _got, _statistics)
