# SPDX-License-Identifier: GPL-2.0-or-later
"""Queueing disciplines: requested in full, and read back from the kernel. The fields of a spec: lab/node/qdiscs/."""

from typing import Any, NamedTuple

from lab.node import modules
from lab.node.netlink import TC_H_ROOT, Qdiscs
from lab.node.qdiscs import KINDS, MODULES
from lab.node.qdiscs.kind import ByNetlink, ByTc, Spec
from lab.node.tools import NodeError, run_json

Counts = dict[str, int | None]  # null: not known to the qdisc yet
ROUNDING = 1e-4  # tc prints floats


class Place(NamedTuple):
    """Where a qdisc hangs, for tc and for netlink."""

    words: str
    handle: str
    parent: int
    number: int


ROOT = Place("root", "1:", TC_H_ROOT, 0x10000)
CHILD = Place("parent 1:1", "10:", 0x10001, 0x100000)


def command(dev: str, spec: Spec, verb: str = "replace", place: Place = ROOT) -> str:
    """Build the tc command that makes a spec the root of an interface, or changes what is there to it."""
    kind = KINDS[spec["kind"]]
    assert isinstance(kind, ByTc)
    said = kind.words(spec) + ([] if verb == "change" else kind.made_words(spec))
    return " ".join(["qdisc", verb, "dev", dev, place.words, "handle", place.handle, spec["kind"], *said])


def apply(node: str, dev: str, spec: Spec) -> Spec:
    """Apply a spec and return it as the kernel reports it; NodeError where the two differ."""
    modules.load_all(modules_of(spec))
    found = [made(node, dev, part, place) for part, place in _parts(spec)]
    return found[0] | ({"child": found[1]} if len(found) > 1 else {})


def made(node: str, dev: str, spec: Spec, place: Place = ROOT) -> Spec:
    """Make one qdisc and return it as the kernel reports it; NodeError where the two differ."""
    kind = KINDS[spec["kind"]]
    got = _by_tc(node, dev, spec, place, kind) if isinstance(kind, ByTc) else _by_netlink(node, dev, spec, place, kind)
    for name, value in got.items():
        slack = kind.slack(spec, name) if isinstance(kind, ByTc) else 0.0
        if _differ(value, spec[name], slack):
            raise NodeError(f"{node}:{dev}: {name}={value}: must be {spec[name]}, as asked of {spec['kind']}")
    return got


def modules_of(spec: Spec) -> list[str]:
    """Name the modules that a spec needs."""
    return [MODULES[part["kind"]] for part, _ in _parts(spec) if part["kind"] in MODULES]


def statistics(node: str, dev: str, spec: Spec) -> dict[str, Counts]:
    """Return what the lab's own qdiscs of an interface counted, by kind."""
    counted = {}
    for part, place in _parts(spec):
        kind = KINDS[part["kind"]]
        if isinstance(kind, ByNetlink):
            with Qdiscs(node, dev) as qdiscs:
                counted[part["kind"]] = kind.statistics(qdiscs.state(part["kind"], place.parent))
    return counted


def _parts(spec: Spec) -> list[tuple[Spec, Place]]:
    """List the qdiscs of a spec; a shaper without a child gets a FIFO, which is read back like any other."""
    if spec["kind"] != "replay":
        return [(spec, ROOT)]
    return [(spec, ROOT), (spec["child"] or {"kind": "bfifo", "limit_bytes": spec["limit_bytes"]}, CHILD)]


def _by_tc(node: str, dev: str, spec: Spec, place: Place, kind: ByTc) -> Spec:
    """Make it and look at it in one process: one costs milliseconds under User Mode Linux."""
    lines = f"{command(dev, spec, place=place)}\nqdisc show dev {dev} {place.words}\n"
    options = ["-j", "-d"] if kind.details else ["-j"]
    shown = run_json("tc", "-n", node, *options, "-b", "-", stdin=lines)[0]
    if shown["kind"] != spec["kind"]:
        raise NodeError(f"{node}:{dev}: qdisc={shown['kind']}: must be {spec['kind']}, as asked")
    return kind.got(shown["options"])


def _by_netlink(node: str, dev: str, spec: Spec, place: Place, kind: ByNetlink) -> Spec:
    with Qdiscs(node, dev) as qdiscs:
        qdiscs.make(spec["kind"], kind.options(spec), place.parent, place.number)
        return kind.got(qdiscs.state(spec["kind"], place.parent))


def _differ(got: Any, asked: Any, slack: float) -> bool:
    if isinstance(asked, str):
        return bool(got != asked)
    return bool(abs(got - asked) > ROUNDING * max(abs(asked), 1) + slack)
