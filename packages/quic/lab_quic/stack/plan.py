# SPDX-License-Identifier: GPL-2.0-or-later
"""What differs in the plan of a trial over a user's stack: its two ends. Link, capture and samples are the same."""

import math

from lab.node.plan import FlowPlan, Plan
from lab.schema.cca import Cca
from lab_quic.plan import UDP_BYTES, over_udp
from lab_quic.stack.contract import WORLDS, fill, filled
from lab_quic.stack.gather import LIBRARIES, LOADER
from lab_quic.stack.prepared import IDENTITY_AT, Prepared, stored

PLACE = "/stack"  # of its files, in the guest
TRIAL = "/trial"  # of the trial's folder, in the guest
MORE_MEMORY_MB = 512  # for two programs
MOST_FILE_BYTES = 500_000_000  # of anything that a program writes: its qlog, its output
ENOUGH = 2  # times what the link can carry: a download that ends at its time does not run out of bytes
PATH = "/usr/sbin:/usr/bin"


def planned(plan: Plan, cca: Cca, mtu_bytes: int) -> Plan:
    """Return the plan with the stack's two ends."""
    changed = over_udp(plan, mtu_bytes, "a stack over UDP")
    prepared = stored(cca.module_digest or "")
    (flow,) = plan["flows"]
    fields = {"cca": cca.algorithm, "datagram": str(mtu_bytes - UDP_BYTES)}
    return {
        **changed,
        "work": "lab_quic.node.stack.run_trial",
        "bound": {PLACE: prepared.digest},
        "flows": [_with_ends(flow, plan, prepared, fields)],
        "memory_mb": plan["memory_mb"] + MORE_MEMORY_MB,
    }


def _with_ends(flow: FlowPlan, plan: Plan, prepared: Prepared, fields: dict[str, str]) -> FlowPlan:
    size = flow.get("size_bytes") or math.ceil(ENOUGH * plan["link"]["rate_mbps"] * 1e6 / 8 * flow["duration_s"])
    address = plan["addresses"][flow["sender"]]
    values = {
        **fields,
        "address": address,
        "port": str(flow["port"]),
        "bytes": str(size),
        "stack": PLACE,
        "cert": f"{PLACE}/{IDENTITY_AT}/cert.pem",
        "key": f"{PLACE}/{IDENTITY_AT}/key.pem",
    }
    stack = prepared.stack
    server, client = (
        _command(line, {**values, "qlog": f"{TRIAL}/qlog/{end}"}, prepared)
        for line, end in ((stack.server, "server"), (stack.client, "client"))
    )
    return {
        **flow,
        "stack": {"name": stack.name, "server": server, "client": client, "long_headers": stack.transport == "quic"},
    }


def _command(line: str, values: dict[str, str], prepared: Prepared) -> list[str]:
    """Build the command of an end: in the stack's folder, with its environment alone, and bounded in what it writes."""
    program, *words = filled(line, values)
    variables = {"PATH": PATH, "HOME": "/tmp", "LC_ALL": "C.UTF-8"}
    variables |= {name: fill(value, values) for name, value in prepared.stack.environment.items()}
    return [
        *("env", "-i", "-C", PLACE),
        *(f"{name}={value}" for name, value in variables.items()),
        *("prlimit", f"--fsize={MOST_FILE_BYTES}", "--core=0"),
        *_program(program, prepared),
        *words,
    ]


def _program(program: str, prepared: Prepared) -> list[str]:
    if program == WORLDS:
        return [f"/usr/bin/{WORLDS}"]
    if program not in prepared.loaded:
        return [f"{PLACE}/{program}"]
    libraries = f"{PLACE}/{LIBRARIES}"
    return [f"{libraries}/{LOADER}", "--library-path", libraries, f"{PLACE}/{program}"]
