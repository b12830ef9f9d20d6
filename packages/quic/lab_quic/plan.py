# SPDX-License-Identifier: GPL-2.0-or-later
"""What differs in the plan of a trial whose download runs over QUIC: its ends. Link, capture and samples are the same.

A full datagram is as long as a full TCP segment is, so that both fill the same frames of the link.
"""

from lab.base.errors import UserError
from lab.node.plan import Plan, QuicPlan
from lab.schema.cca import Cca
from lab.tables.qdisc import SAMPLE_EVENT
from lab_quic.programs import stack_of

UDP_BYTES = 28  # IP (20) and UDP (8)
PACKET_BYTES = 32  # header, frame header and tag around a full packet's data, at most (RFC 9000, sections 17 and 19)
LEAST_BYTES = 1200  # of a datagram (RFC 9000, section 14)
SNAPLEN_BYTES = 64  # Ethernet (14), IP (20), UDP (8), and QUIC's first bytes; behind them all is encrypted
SAMPLER = "qdisc_sampler"


def planned(plan: Plan, cca: Cca, mtu_bytes: int) -> Plan:
    """Return the plan with QUIC's two ends."""
    changed = over_udp(plan, mtu_bytes, "a sender over QUIC")
    ends: QuicPlan = {"program": stack_of(cca).place, "datagram_bytes": mtu_bytes - UDP_BYTES}
    if cca.params:
        ends["params"] = {**cca.params}
    return {
        **changed,
        "work": "lab_quic.node.quic.run_trial",
        "flows": [{**flow, "quic": ends} for flow in plan["flows"]],
    }


def over_udp(plan: Plan, mtu_bytes: int, ends: str) -> Plan:
    """Return the plan of a trial whose ends send datagrams; no TCP sender is loaded or traced."""
    data_bytes = mtu_bytes - UDP_BYTES
    if data_bytes < LEAST_BYTES:
        raise UserError(f"mtu_bytes={mtu_bytes}: must be at least {LEAST_BYTES + UDP_BYTES} for {ends}")
    return {
        **plan,
        "mss_bytes": data_bytes - PACKET_BYTES,
        "modules": [module for module in plan["modules"] if module["name"] == SAMPLER],
        "egress": [],  # fq paces what the kernel's TCP asks it to; each stack paces its own datagrams
        "capture": {**plan["capture"], "snaplen_bytes": SNAPLEN_BYTES},
        "trace": {**plan["trace"], "events": {SAMPLE_EVENT: ""}},
    }
