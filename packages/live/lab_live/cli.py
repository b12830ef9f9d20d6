# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab traces record` and `lab replay`: each reads its arguments and calls one function."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.cli_options import Shaper, console


def record(
    host: Annotated[str | None, typer.Argument(help="Machine on which `lab traces record --server` runs.")] = None,
    server: Annotated[bool, typer.Option("--server", help="Serve measurements until Ctrl-C.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65534, help="TCP and UDP; probes use the next one.")] = 5301,
    out: Annotated[Path | None, typer.Option(help="Folder of the dataset.")] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Seconds for which each direction is filled.")] = 30,
    idle_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds with probes only, before: the round-trip time without load.")
    ] = 10,
    rate_mbps: Annotated[float, typer.Option(min=0.01, help="Rate of the fillers: above the link's capacity.")] = 200,
    ways: Annotated[
        str, typer.Option(help="Directions to fill: each (one after the other), both, down, up, none.")
    ] = "each",
    probe_ms: Annotated[float, typer.Option(min=1, help="Milliseconds between probes, and between rows.")] = 10,
    packet_bytes: Annotated[int, typer.Option(min=100, max=9000, help="Bytes of a filler, with its IP header.")] = 1500,
    opportunities: Annotated[
        bool, typer.Option("--opportunities", help="Also write the capacity as 1500-byte packets per ms.")
    ] = False,
    most_mbps: Annotated[float, typer.Option(min=0.001, help="Server: highest rate of its fillers.")] = 1000,
    most_seconds: Annotated[float, typer.Option(min=1, help="Server: longest measurement.")] = 600,
) -> None:
    """Measure a live path.

    Example: `lab traces record --server`, and elsewhere `lab traces record HOST --out mine`

    Fillers exceed the link's capacity, so that its queue is full while they are sent. The idle phase has the
    round-trip time without that queue. Down is the direction to this machine.
    """
    from lab.base.errors import UserError
    from lab_live import live

    if host is not None and out is not None and not server:
        plan = live.plan(ways, seconds, idle_seconds, rate_mbps, packet_bytes, probe_ms)
        lines = live.measure(host, port, plan, out, opportunities)
    elif server and host is None:
        lines = live.serve(port, most_mbps, most_seconds)
    else:
        raise UserError("lab traces record: must be given HOST with --out, or --server")
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)


def replay(
    profile: Annotated[str, typer.Argument(help="A profile's name (see `lab list`) or the path of a .yml file.")],
    link: Annotated[
        str, typer.Option(help="NODE:IFACE: a network namespace, Mininet host or container, and its interface.")
    ],
    delay: Annotated[
        str | None, typer.Option(help="NODE:IFACE of the delay, where it is another one than the bottleneck's.")
    ] = None,
    way: Annotated[str, typer.Option(help="The profile's direction: down or up.")] = "down",
    seed: Annotated[int, typer.Option(help="Seed: the link is that of trial 1 of `lab run --profile`.")] = 1,
    duration: Annotated[int, typer.Option(help="Seconds; Ctrl-C ends it earlier.")] = 30,
    shaper: Shaper = "netem",
) -> None:
    """Replay a profile on an interface of your own network, as root, and take everything down at the end.

    Example: `lab replay agree --link clab-path-gateway:eth2`
    """
    from lab_live.replay import Where
    from lab_live.replay import replay as replay_there

    replay_there(profile, Where(link, delay, way), seed, duration, shaper, console)
