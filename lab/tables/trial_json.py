# SPDX-License-Identifier: GPL-2.0-or-later
"""trial.json: the definition of what is stored of a trial beside its tables. The form is that of lab/node/plan.py."""

from typing import Annotated, NotRequired, TypedDict

from lab.node.plan import LinkNumbers
from lab.node.record import Amount, Around, Count, Observed


class Check(TypedDict):
    """One comparison of the certificate."""

    name: Annotated[str, "what is compared"]
    asked: Annotated[float, "the target, in `unit`", ""]
    got: Annotated[float | None, "the measured value, in `unit`; null where nothing could be measured", ""]
    unit: Annotated[str, "unit of `asked`, `got` and `tolerance`"]
    tolerance: Annotated[float, "largest difference that is accepted, in `unit`", ""]
    ok: Annotated[bool, "whether the check is passed"]


class Certificate(TypedDict):
    """Whether the emulator did what the plan requests."""

    valid: Annotated[bool, "whether every check is passed; an invalid trial counts in no result"]
    checks: Annotated[list[Check], "the comparisons"]


class Iperf3Figures(TypedDict, total=False):
    """iperf3's own figures, as a cross-check; or the reason why there are none."""

    error: Annotated[str, "why iperf3 gave no report"]
    throughput_mbps: Annotated[float, "received bits over its own time"]
    retransmits_pkts: Annotated[int, "segments retransmitted, its whole time"]
    bytes: Annotated[int, "payload received", "bytes"]
    seconds: Annotated[float, "its own time", "s"]


class Extent(TypedDict):
    """What a download transferred, and when. Times count from the data connection's SYN, as in every table."""

    flow: Annotated[int, "number of the flow in the tables: 1, and from 2 on the rivals'"]
    data_s: Annotated[
        float, "arrival of the first data segment at the client; of a rival that had none in its time, its begin"
    ]
    end_s: Annotated[float, "end of the download: after its duration or its size"]
    seconds: Annotated[Amount, "end_s - data_s", "s"]
    bytes: Annotated[Count, "unique payload that arrived by then; of a rival, what was acknowledged", "bytes"]
    throughput_mbps: Annotated[Amount, "these bytes over these seconds; 0 of a rival that had 0 seconds"]


class Counted(TypedDict):
    """What the node counted of a download."""

    retransmits_pkts: Annotated[
        Count | None,
        "segments that the sender's kernel retransmitted, or packets that a qlog reports lost; of one of several on a "
        "host: buffers, of one segment or more; null where a stack names none of the lost",
    ]
    iperf3: Annotated[Iperf3Figures, "iperf3's own figures"]


class Download(Extent, Counted):
    """One download, measured."""


class FlowJson(Download):
    """One download and its sender."""

    cca: Annotated[str, "name of the sender"]
    parameters: Annotated[dict[str, str], "its module's, as they were; none of a sender without"]


class ObjectJson(TypedDict):
    """One object that a workload's client requested."""

    exchange: Annotated[int, "requests sent together have the same number, from 1 on"]
    group: Annotated[int, "page, chunk or call that it belongs to, from 1 on"]
    bytes: Annotated[Count, "its size", "bytes"]
    requested_s: Annotated[float | None, "when it was requested; null where the trial ended before it was whole"]
    whole_s: Annotated[float | None, "when the client had all of it; null where it never had"]


class WorkloadJson(TypedDict):
    """What a workload's client had, and what limited its sender. Times count from the SYN, as in every table."""

    objects: Annotated[list[ObjectJson], "every object, in the order of the requests"]
    stalled_s: Annotated[Amount, "time without play after the first object, of a client that plays"]
    limited: Annotated[
        list[list[float]],
        "when it changed whether the application limits the sender: time (s), and 1 where it does. By TCP_INFO, "
        "sampled every 10 ms, under the conditions of tcp_rate_check_app_limited(); over QUIC by the stack, each time "
        "that it has sent what it may",
        "",
    ]
    busy_s: Annotated[Amount, "time with data to send or unacknowledged (over TCP tcpi_busy_time)"]
    rwnd_limited_s: Annotated[Amount, "of it: held by the client's window"]
    sndbuf_limited_s: Annotated[Amount, "of it: held by the send buffer"]


class TrialJson(Around, Observed, LinkNumbers):
    """trial.json."""

    format: Annotated[int, "version of the stored form"]
    cca: Annotated[str, "name of the sender"]
    trial: Annotated[int, "number of the trial, from 1 on"]
    seed: Annotated[int, "seed of the trial's random draws, the same for every sender"]
    scenario: Annotated[str, "name of the scenario"]
    profile: Annotated[str, "name of the link's profile"]
    duration_s: Annotated[int, "length of the download, as the scenario requests"]
    mss_bytes: Annotated[int, "payload of a full segment"]
    flows: Annotated[list[FlowJson], "the download under test, then its rivals'"]
    workload: NotRequired[Annotated[WorkloadJson, "objects and limits, where a workload was requested"]]
    certificate: Annotated[Certificate, "whether the emulator did what the plan requests"]
    backend: Annotated[str, "where the kernel ran: virtual, host or vm"]
    sandbox: NotRequired[Annotated[str, "of a virtual kernel: bubblewrap; or none, with Landlock where there is one"]]
    engine: Annotated[str, "what built the network: netns, containerlab, mininet or pair"]
    shaper: Annotated[str, "what replayed the link: replay or netem"]
