# SPDX-License-Identifier: GPL-2.0-or-later
"""node.json: what a node leaves beside its raw records. The one definition that both sides import.

The form is that of lab/node/plan.py. trial.json keeps most of these parts as they are.
"""

from typing import Annotated, NotRequired, TypedDict

from lab.node.plan import ProbedWay, Shape

Count = Annotated[int, range(2**63)]  # what is counted, and times of clocks that begin with 0
Amount = Annotated[float, range(2**63)]
Plain = float | str | bool | None


class Clocks(TypedDict):
    """One instant on two clocks."""

    monotonic_ns: Annotated[Count, "CLOCK_MONOTONIC, the clock of the trace"]
    realtime_ns: Annotated[Count, "CLOCK_REALTIME, the clock of the capture"]


class Applied(Shape):
    """A qdisc, and what the kernel reports of it."""

    got: Annotated[dict[str, Plain | dict[str, Plain]], "the qdisc as read back from the kernel, before the traffic"]


class Probed(ProbedWay):
    """One way of the idle path, measured."""

    arrived: Annotated[
        list[tuple[Count, int]], "number and one-way delay of each datagram that arrived, in order", "µs"
    ]


class LinkCounts(TypedDict):
    """What an interface itself counts, over the whole trial."""

    rx_dropped_pkts: Annotated[Count, "received frames dropped, errors included"]
    tx_dropped_pkts: Annotated[Count, "frames dropped before they were sent, errors included"]
    tx_pkts: Annotated[Count, "frames sent"]


class InterfaceCounts(LinkCounts):
    """Drops of one interface and of its qdisc."""

    qdisc_dropped_pkts: Annotated[Count, "frames that the root qdisc dropped"]


class Counters(TypedDict):
    """Where packets were dropped."""

    interfaces: Annotated[dict[str, InterfaceCounts], "by node:interface"]
    tcp: Annotated[dict[str, dict[str, Count]], "by end: TCP counters (nstat's names) that mean a loss and are not 0"]


class CaptureCounts(TypedDict):
    """dumpcap's own count."""

    received_pkts: Annotated[Count, "frames that the capture received"]
    dropped_pkts: Annotated[Count, "frames that it missed"]


class Played(TypedDict, total=False):
    """What was counted of a qdisc that followed a series: `replay`, `delay_line`, or tbf and netem, changed by tc."""

    changes: Annotated[Count, "tbf, netem: changes that tc made; a step that changes nothing is none"]
    late_p99_ns: Annotated[Count, "tbf, netem: how late a change was made, 99th percentile"]
    late_max_ns: Annotated[Count, "tbf, netem: how late the latest change was made"]
    loss_sum: Annotated[Count, "delay_line, netem: sum of the loss shares that packets met, in units of 2^-32"]
    lost_pkts: Annotated[Count, "delay_line, netem: packets dropped at random"]
    overflow_pkts: Annotated[Count, "delay_line: packets dropped at its limit"]
    sent_pkts: Annotated[Count, "delay_line: packets sent"]
    late_pkts: Annotated[Count, "delay_line: packets that left later than accepted"]
    latest_ns: Annotated[Count, "delay_line: largest lateness of a departure"]
    capacity_bytes: Annotated[Count, "replay: bytes that its series has offered"]
    rate_bps: Annotated[Count, "replay: rate at the end"]
    start_ns: Annotated[Count | None, "begin of the series, on the trial's clock; null before it is set"]
    end_ns: Annotated[Count | None, "length of the series; null before it is set"]
    consumed_steps: Annotated[Count, "steps of the series that are over"]
    past_end_ns: Annotated[Count, "time spent behind the end of the series; not 0: the trial is refused"]
    held_steps: Annotated[Count, "steps that the kernel held at the end"]
    room_steps: Annotated[Count, "further steps that it had room for"]
    underruns: Annotated[Count, "times at which it had no step left; not 0: the trial is refused"]


class Change(TypedDict):
    """A qdisc that followed a series."""

    part: Annotated[str, "the part of the link, as in the plan's shapes"]
    played: Annotated[Played, "what the qdisc counted"]


class Iperf3Sent(TypedDict):
    """iperf3's sum over what the server sent."""

    retransmits: Annotated[Count, "segments retransmitted", "packets"]


class Iperf3Received(TypedDict):
    """iperf3's sum over what the client received."""

    bytes: Annotated[Count, "payload", "bytes"]
    seconds: Annotated[Amount, "time from iperf3's start to its end", "s"]
    bits_per_second: Annotated[Amount, "throughput", "bit/s"]


class Iperf3End(TypedDict):
    """The end of iperf3's report: the two sums that the lab reads."""

    sum_sent: Annotated[Iperf3Sent, "the server's sum"]
    sum_received: Annotated[Iperf3Received, "the client's sum"]


class Iperf3Report(TypedDict):
    """iperf3's own JSON, of which only this is read."""

    end: Annotated[Iperf3End, "its end"]


class Iperf3Outcome(TypedDict):
    """How iperf3 ended: with a report or with an error."""

    iperf3: Annotated[Iperf3Report | None, "iperf3's report; null where it gave none"]
    iperf3_error: Annotated[str | None, "why there is no report; null where there is one"]


class DownloadRecord(Iperf3Outcome):
    """One download, as the node measured it."""

    data_ns: Annotated[
        Count, "arrival of the first data segment at the client, monotonic; of a rival that had none, its begin"
    ]
    until_ns: Annotated[Count, "end of the download, monotonic"]
    retransmits_pkts: Annotated[
        Count, "segments that the sender's host retransmitted between the two, of all its downloads"
    ]


class Second(TypedDict):
    """A machine's processors in one second."""

    busy_pct: Annotated[float, "share of their time spent on work"]
    steal_pct: Annotated[float, "share that other virtual machines took"]


class Lateness(TypedDict):
    """How late a process woke up that slept until a given time."""

    p50: Annotated[float | None, "median; null where nothing was measured", "µs"]
    p99: Annotated[float | None, "99th percentile; null where nothing was measured", "µs"]
    max: Annotated[float | None, "latest; null where nothing was measured", "µs"]


class MachineLoad(TypedDict):
    """A machine while a trial ran on it in real time."""

    processors: Annotated[Count | None, "number of processors; null where the system does not report it"]
    seconds: Annotated[list[Second], "its processors, second by second"]
    wake_ups: Annotated[Count, "number of wake-ups measured"]
    late_us: Annotated[Lateness, "how late they were"]


class Far(TypedDict):
    """The second machine, where the client's TCP runs (engine pair)."""

    machine: Annotated[MachineLoad, "how busy it was"]
    wire_us: Annotated[list[Amount], "round trips over the wire between the machines, before the traffic"]


class Observed(TypedDict):
    """What was seen during the traffic; trial.json keeps it as it is."""

    capture: Annotated[CaptureCounts, "the capture's own count"]
    changes: Annotated[list[Change], "each qdisc that followed a series"]
    server_start_s: NotRequired[Annotated[Amount, "how late the server's process began; absent: at once"]]
    machine: NotRequired[Annotated[MachineLoad, "how busy the machine was; in real time only"]]


class Traffic(Observed):
    """What was measured from the capture's start to the last download's end."""

    clocks: Annotated[Clocks, "both clocks at one instant: they align the trace with the capture"]
    start_ns: Annotated[Count, "begin of the link's series, monotonic"]
    downloads: Annotated[list[DownloadRecord], "each download, in the plan's order"]
    far: NotRequired[Annotated[Far, "the second machine; engine pair only"]]


class Around(TypedDict):
    """What was measured before and after the traffic; trial.json keeps it as it is."""

    applied: Annotated[list[Applied], "each qdisc, with what the kernel reports of it"]
    probes: Annotated[list[Probed], "the idle path, measured before the download"]
    counters: Annotated[Counters, "drops, read after the traffic"]
    kernel: Annotated[str, "/proc/version of the kernel under test"]


class WorkloadClient(TypedDict):
    """workload-client.json: what the client of a workload had, and when. Times are monotonic."""

    whole_ns: Annotated[
        list[tuple[Count, Count]], "of each object in order: when it was requested, and when it was whole", "ns"
    ]
    stalled_s: Annotated[Amount, "time without play after the first object, of a client that plays"]


class WorkloadServer(TypedDict):
    """workload-server.json: what TCP_INFO reported of the sender's socket."""

    limited_ns: Annotated[
        list[tuple[Count, Annotated[int, range(2)]]],
        "samples at which it changed: time, and 1 where the application limits",
    ]
    samples: Annotated[Count, "number of samples", ""]
    busy_us: Annotated[Count, "time with data to send or unacknowledged (tcpi_busy_time)"]
    rwnd_limited_us: Annotated[Count, "of it: held by the client's window (tcpi_rwnd_limited)"]
    sndbuf_limited_us: Annotated[Count, "of it: held by the send buffer (tcpi_sndbuf_limited)"]


class NodeRecord(Traffic, Around):
    """node.json."""

    modules: Annotated[dict[str, dict[str, str]], "the modules of the plan: each parameter as it was"]
