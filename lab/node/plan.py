# SPDX-License-Identifier: GPL-2.0-or-later
"""plan.json: what the host writes and the node executes. The one definition that both sides import.

Each field is `Annotated[type, meaning]`, with the unit as a third part where the name does not end in it. A meaning
ends with "; null ..." where the value may be null. `lab data-dictionary` lists the fields.

The node imports this file for type checking only (`if TYPE_CHECKING`): it would take each trial's time.
"""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

Spec = dict[str, Any]  # a qdisc: `kind`, and the fields that lab/node/qdiscs/kinds/ defines for that kind


class Node(TypedDict):
    """One node of a topology."""

    exec: Annotated[list[str], "commands that run in the node once its interfaces are up"]


class Wire(TypedDict):
    """A wire between two interfaces."""

    endpoints: Annotated[list[str], "both ends, as node:interface"]
    mtu: Annotated[int, "largest IP packet", "bytes"]


class Topology(TypedDict):
    """The graph that an engine brings up."""

    nodes: Annotated[dict[str, Node], "nodes by name"]
    links: Annotated[list[Wire], "the wires between them"]


class Module(TypedDict):
    """A kernel module to load."""

    name: Annotated[str, "name of the module"]
    params: Annotated[dict[str, int | str], "its parameters by name; they are read back"]
    file: NotRequired[Annotated[str, "where it lies in the trial's folder; absent: among the kernel's modules"]]


class Sysctls(TypedDict):
    """Kernel settings to write and to read back."""

    ends: Annotated[dict[str, str], "settings of each end's namespace"]
    kernel: Annotated[dict[str, str], "settings of the first namespace"]
    route: Annotated[dict[str, str], "metrics of each end's default route"]


class LinkNumbers(TypedDict):
    """The drawn link in three numbers."""

    base_rtt_ms: Annotated[float, "shortest round trip with empty queues"]
    rate_mbps: Annotated[float, "mean rate of the bottleneck over the trial; in trial.json over the download"]
    buffer_bytes: Annotated[int, "buffer of the bottleneck"]


class Shape(TypedDict):
    """The qdisc of one interface."""

    part: Annotated[str, "bottleneck, delay-down, bottleneck-up, delay-up, or egress (a sender's own interface)"]
    node: Annotated[str, "node of the interface"]
    dev: Annotated[str, "name of the interface"]
    spec: Annotated[Spec, "the qdisc: its kind, and the fields of that kind"]
    steps: Annotated[str | None, "file of its series, in the trial's folder; null where nothing changes"]


_ProbedFrom = TypedDict("_ProbedFrom", {"from": Annotated[str, "node that sends"]})


class ProbedWay(_ProbedFrom):
    """Small datagrams over the idle path, one way."""

    way: Annotated[Literal["down", "up"], "direction, as the client sees it"]
    to: Annotated[str, "node that receives"]
    count: Annotated[int, "datagrams", "packets"]
    interval_ms: Annotated[float, "time between two of them"]
    delay_ms: Annotated[float, "one-way delay that the link should have"]
    grant_ms: Annotated[float, "longest wait for a grant of capacity; 0 where capacity is not granted"]


class CapturePlan(TypedDict):
    """The capture at the client."""

    interface: Annotated[list[str], "node and interface"]
    snaplen_bytes: Annotated[int, "bytes kept of each frame"]
    ring_mb: Annotated[int, "size of the kernel's capture buffer", "MiB"]


class TracePlan(TypedDict):
    """The kernel's tracepoints."""

    events: Annotated[dict[str, str], "filter by event (system:event); empty: no filter"]
    buffer_kb: Annotated[int, "size of the ring buffer of each processor", "KiB"]


class SamplerPlan(TypedDict):
    """Samples of the bottleneck's qdisc."""

    interface: Annotated[list[str], "node and interface"]
    interval_us: Annotated[int, "time between two samples"]


class QuicPlan(TypedDict):
    """The ends of a download over QUIC."""

    program: Annotated[str, "where the stack's program lies in the trial's folder"]
    datagram_bytes: Annotated[int, "payload of a full UDP datagram"]
    params: NotRequired[Annotated[dict[str, int | str], "parameters of the controller; absent: its own"]]


class StackPlan(TypedDict):
    """The ends of a download over a stack that a user brings."""

    name: Annotated[str, "name of the stack"]
    server: Annotated[list[str], "the server's command"]
    client: Annotated[list[str], "the client's command"]
    long_headers: Annotated[bool, "whether a datagram with QUIC's long header is part of the handshake"]


class ExchangePlan(TypedDict):
    """Requests that a client sends together; the next ones follow when all their responses are whole."""

    group: Annotated[int, "page, chunk or call that it belongs to, from 1 on"]
    wait_s: Annotated[float, "pause before the requests, from the last response on"]
    objects_bytes: Annotated[list[int], "size of each response"]
    media_s: Annotated[float, "play in the responses, for a client that plays them"]


class WorkloadPlan(TypedDict):
    """What a client requests over one connection, and when."""

    request_bytes: Annotated[int, "size of each request"]
    buffer_s: Annotated[float, "play that the client holds at most before it requests more; 0: it plays nothing"]
    exchanges: Annotated[list[ExchangePlan], "in this order"]


class FlowPlan(TypedDict):
    """One download."""

    sender: Annotated[str, "node of the server"]
    receiver: Annotated[str, "node of the client"]
    algorithm: Annotated[str, "congestion control, as the kernel names it"]
    port: Annotated[int, "port of the server"]
    duration_s: Annotated[float, "length of the download, from the first data segment at the client"]
    start_s: NotRequired[Annotated[float, "how much later than the first download it begins; absent: at once"]]
    size_bytes: NotRequired[Annotated[int, "the download also ends after so many bytes"]]
    client_port: NotRequired[Annotated[int, "port of the client's data connection"]]
    workload: NotRequired[Annotated[WorkloadPlan, "requests instead of one download; absent: a download"]]
    quic: NotRequired[Annotated[QuicPlan, "the ends, where the download runs over QUIC; absent: TCP"]]
    stack: NotRequired[Annotated[StackPlan, "the ends, where the user brings them; absent: the lab's"]]


class NodesPlan(TypedDict):
    """What an engine needs to bring the nodes up."""

    topology: Annotated[Topology, "the graph"]
    ends: Annotated[list[str], "nodes of the senders and receivers"]
    preload: NotRequired[Annotated[str | None, "library preloaded into iperf3 and dumpcap; null in real time"]]
    clock: NotRequired[Annotated[Literal["real"], "real time; absent in the virtual kernel"]]
    engine: NotRequired[Annotated[str, "what builds the nodes; absent: netns"]]
    holder: NotRequired[Annotated[str, "the command that runs the trial, for the lock in real time"]]


class Call(TypedDict):
    """A function of ours to call in the virtual kernel."""

    module: Annotated[str, "its module"]
    function: Annotated[str, "its name"]
    arguments: Annotated[dict[str, Any], "its arguments by name"]


class CallPlan(TypedDict):
    """A function to call in the virtual kernel, in place of a trial."""

    call: Annotated[Call, "the call"]


class SeveralPlans(TypedDict):
    """Trials that one virtual kernel runs one after another, each as if the kernel had booted for it."""

    several: Annotated[list[str], "folders below the kernel's own, each with a plan.json and its files"]


class Plan(NodesPlan):
    """One trial, with everything that its seed decides."""

    seed: Annotated[int, "seed of the trial's random draws"]
    addresses: Annotated[dict[str, str], "IPv4 address of each end"]
    modules: Annotated[list[Module], "modules to load, in this order"]
    sysctls: Annotated[Sysctls, "kernel settings"]
    mss_bytes: Annotated[int, "payload of a full segment"]
    link: Annotated[LinkNumbers, "the drawn link in numbers"]
    shapes: Annotated[list[Shape], "qdiscs of the link"]
    egress: Annotated[list[Shape], "qdiscs of the senders' own interfaces"]
    start_phase_s: Annotated[float, "pause before the link's series begin"]
    probes: Annotated[list[ProbedWay], "the idle path, before the download"]
    capture: Annotated[CapturePlan, "the capture at the client"]
    trace: Annotated[TracePlan, "the kernel's tracepoints"]
    sampler: Annotated[SamplerPlan, "samples of the bottleneck's qdisc"]
    flows: Annotated[list[FlowPlan], "the download under test, then its rivals'"]
    memory_mb: Annotated[int, "memory of the virtual kernel", "MiB"]
    server_start_s: NotRequired[
        Annotated[float, "how late the server's process begins, from the data connection's opening on; absent: at once"]
    ]
    series_begin: NotRequired[
        Annotated[Literal["syn", "data"], "with what of the download the link's series begin; absent: with the trial"]
    ]
    shaper: NotRequired[Annotated[Literal["netem"], "tc alone replays the link; absent: the lab's own qdiscs"]]
    kernel: NotRequired[Annotated[str, "digest of the virtual kernel that boots; absent: the run's"]]
    bound: NotRequired[Annotated[dict[str, str], "digests of folders that the virtual kernel may read, by their place"]]
    work: NotRequired[
        Annotated[str, "trial, workload, or a package's function by its whole name; absent: trial, over TCP"]
    ]
