# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel settings of a node: written, then read back."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from lab.node.tools import NodeError, inside, run, run_json

Settings = dict[str, str]


def pin(node: str | None, settings: Settings) -> None:
    """Write settings in a node (None: in the first namespace) and refuse what did not take."""
    words = [f"{name}={value}" for name, value in settings.items()]
    run(*_there(node, "sysctl", "-q", "-w", *words))
    for name, got in read(node, settings).items():
        if got != " ".join(settings[name].split()):
            raise NodeError(f"{node or 'kernel'}: {name}={got}: must be {settings[name]}")


def read(node: str | None, names: Iterable[str]) -> Settings:
    """Read settings of a node, or of the first namespace."""
    names = list(names)
    got = run(*_there(node, "sysctl", "-n", *names)).splitlines()
    return {name: " ".join(line.split()) for name, line in zip(names, got, strict=True)}


@contextmanager
def given_back(names: Iterable[str]) -> Iterator[None]:
    """Give the first namespace its settings back after the block."""
    before = read(None, names)
    try:
        yield
    finally:
        pin(None, before)


def _there(node: str | None, *argv: str) -> list[str]:
    return inside(node, *argv) if node else list(argv)


def pin_route(node: str, settings: Settings) -> None:
    """Write settings of a node's default route, and refuse what did not take."""
    show = ("ip", "-n", node, "-j", "-d", "route", "show", "default")
    (route,) = run_json(*show)
    words = [word for pair in settings.items() for word in pair]
    run("ip", "-n", node, "route", "replace", "default", "via", route["gateway"], "dev", route["dev"], *words)
    (metrics,) = run_json(*show)[0]["metrics"]
    if metrics != {name: int(value) for name, value in settings.items()}:
        raise NodeError(f"{node}: default route={metrics}: must be {settings}")
