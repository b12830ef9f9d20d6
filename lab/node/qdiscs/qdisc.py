# SPDX-License-Identifier: GPL-2.0-or-later
"""Queueing disciplines: every value is stated, and read back from the kernel. A spec's values: kinds/."""

from typing import Any, NamedTuple

from lab.node import beginning
from lab.node.net.netlink import TC_H_ROOT, TCA_OPTIONS, Qdiscs
from lab.node.qdiscs import kinds, qdisc_uapi
from lab.node.qdiscs.qdisc_kind import Kind, NetlinkKind, Options, Setting, Spec, TcKind
from lab.node.system import modules
from lab.node.system.tools import NodeError, run_json

Counts = dict[str, int | None]  # null: not known to the qdisc yet
ROUNDING = 1e-4  # tc prints floats


class QdiscPlace(NamedTuple):
    """Where a qdisc hangs, for tc and for netlink."""

    arguments: str
    handle: str
    parent: int
    number: int


ROOT = QdiscPlace("root", "1:", TC_H_ROOT, 0x10000)
CHILD = QdiscPlace("parent 1:1", "10:", 0x10001, 0x100000)


def command(dev: str, spec: Spec, verb: str = "replace", place: QdiscPlace = ROOT) -> str:
    """Return the tc command that makes a qdisc on an interface, or changes the one that is there."""
    kind = kinds.find(spec["kind"])
    assert isinstance(kind, TcKind)
    stated = [setting for setting in kind.settings if not setting.once or (verb != "change" and setting.name in spec)]
    values = [argument for setting in stated for argument in setting.arguments(spec[setting.name])]
    head = ["qdisc", verb, "dev", dev, place.arguments, "handle", place.handle, spec["kind"]]
    return " ".join([*head, *kind.switches, *values])


def apply(node: str, dev: str, spec: Spec) -> Spec:
    """Apply a spec, and return what the kernel reports; NodeError where the two differ."""
    modules.load_all(modules_of(spec))
    found = [made(node, dev, part, place) for part, place in _parts(spec)]
    return found[0] | ({"child": found[1]} if len(found) > 1 else {})


def made(node: str, dev: str, spec: Spec, place: QdiscPlace = ROOT) -> Spec:
    """Make one qdisc and return what the kernel reports; NodeError where that is not what was requested."""
    kind = kinds.find(spec["kind"])
    if isinstance(kind, TcKind) and not kind.encoded:
        got = _by_tc(node, dev, spec, place, kind)
    else:
        got = _by_netlink(node, dev, spec, place, kind)
    _require(node, dev, spec, kind, got)
    return got


def require_stated(node: str, dev: str, spec: Spec, place: QdiscPlace = ROOT) -> None:
    """Raise NodeError where the kernel does not have what tc stated last of a kind that netlink shows."""
    kind = kinds.find(spec["kind"])
    with Qdiscs(node, dev) as link:
        _require(node, dev, spec, kind, _shown(link, spec["kind"], kind, place))


def _require(node: str, dev: str, spec: Spec, kind: Kind, got: Spec) -> None:
    slack = {row.name: row.slack(spec) for row in kind.settings if isinstance(row, Setting) and row.slack}
    for name, value in got.items():
        if _differ(value, spec[name], slack.get(name, 0.0)):
            raise NodeError(f"{node}:{dev}: {name}={value}: must be {spec[name]}, as requested of {spec['kind']}")


def modules_of(spec: Spec) -> list[str]:
    """Name the modules that a spec needs."""
    wanted = [part["kind"] for part, _ in _parts(spec)]
    return [f"sch_{kind}" for kind in wanted if not kinds.find(kind).built_in]


def statistics(node: str, dev: str, spec: Spec) -> dict[str, dict[str, int | None]]:
    """Read what the lab's own qdiscs of an interface counted, by kind."""
    counted = {}
    for part, place in _parts(spec):
        kind = kinds.find(part["kind"])
        if isinstance(kind, NetlinkKind) and kind.state:
            with Qdiscs(node, dev) as link:
                counted[part["kind"]] = qdisc_uapi.statistics(kind, link.shown(part["kind"], place.parent))
    return counted


def _parts(spec: Spec) -> list[tuple[Spec, QdiscPlace]]:
    """Split a spec by qdisc; a shaper without a child has a FIFO, which is read back like any other."""
    if spec["kind"] != "replay":
        return [(spec, ROOT)]
    return [(spec, ROOT), (spec["child"] or {"kind": "bfifo", "limit_bytes": spec["limit_bytes"]}, CHILD)]


def _by_tc(node: str, dev: str, spec: Spec, place: QdiscPlace, kind: TcKind) -> Spec:
    """Make it and show it in one process: one costs milliseconds under User Mode Linux."""
    lines = f"{command(dev, spec, place=place)}\nqdisc show dev {dev} {place.arguments}\n"
    options = ["-j", "-d"] if kind.details else ["-j"]
    shown = run_json("tc", "-n", node, *options, "-b", "-", stdin=lines)[0]
    if shown["kind"] != spec["kind"]:
        raise NodeError(f"{node}:{dev}: qdisc={shown['kind']}: must be {spec['kind']}, as requested")
    return read_back(kind, shown["options"])


def read_back(kind: TcKind, options: Options) -> Spec:
    """Return the values that `tc -j` shows of a kind."""
    return {setting.name: setting.shown(options) for setting in kind.settings if setting.is_shown}


def _by_netlink(node: str, dev: str, spec: Spec, place: QdiscPlace, kind: Kind) -> Spec:
    if isinstance(kind, NetlinkKind):
        options = qdisc_uapi.options(kind, spec, beginning.origin_ns())
    else:
        assert kind.encoded
        options = kind.encoded.options(spec)
    with Qdiscs(node, dev) as link:
        link.make(spec["kind"], options, place.parent, place.number)
        return _shown(link, spec["kind"], kind, place)


def _shown(link: Qdiscs, name: str, kind: Kind, place: QdiscPlace) -> Spec:
    shown = link.shown(name, place.parent)
    if isinstance(kind, NetlinkKind):
        return qdisc_uapi.settings(kind, shown)
    assert kind.encoded
    return kind.encoded.settings(shown[TCA_OPTIONS])


def _differ(got: Any, target: Any, slack: float) -> bool:
    if isinstance(target, str):
        return bool(got != target)
    return bool(abs(got - target) > ROUNDING * max(abs(target), 1) + slack)
