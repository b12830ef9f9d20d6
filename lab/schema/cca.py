# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders: one stanza of cca.yml each."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from lab.base.choice import choose
from lab.base.errors import field_error
from lab.base.named_files import shown
from lab.base.paths import BPF, CCAS, QUIC
from lab.schema.load import Strict, parse, read_yaml

CAUSE = r"^[a-z0-9_]{1,15}$"  # SLOW_START_CAUSE_BYTES of lab/kernel/search/slow_start.h, without the NUL
Colour = Annotated[str, Field(pattern=r"^#[0-9A-Fa-f]{6}$")]
Stanza = dict[str, Any]  # as YAML has it, not yet checked
Look = tuple[str, str]  # marker and line style
FirstWindow = Annotated[int, Field(ge=44, le=100_000)]  # from what lab/sysctls.yml has
SysctlName = Annotated[str, Field(pattern=r"^net\.ipv4\.[a-z0-9_]+$")]

# Looks of senders without one: colours of Okabe and Ito, and a marker and line style that no other sender has. When
# all these are taken, a number is the marker.
ALGORITHM = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}$"  # the kernel's TCP_CA_NAME_MAX is 16
COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#000000")
MARKERS = ("v", "<", ">", "p", "P", "X", "d", "h", "*")
LINESTYLES = ("-", "--", "-.", ":")


class Cca(Strict):
    """A congestion control, how to get it into the kernel, and how it is drawn everywhere."""

    name: str
    label: Annotated[str, Field(min_length=1)]
    transport: Literal["tcp", "quic"] = "tcp"
    stack: Literal["quinn", "ngtcp2"] | None = None  # of QUIC
    algorithm: Annotated[str, Field(pattern=ALGORITHM)]
    module: str | None = None
    params: dict[str, int] = {}
    allocates_bytes: Annotated[int, Field(ge=0)] = 0
    sysctls: dict[SysctlName, str] = {}
    qdisc: Literal["fq"] | None = None
    first_window_pkts: FirstWindow | None = None  # of the receiver, where 44 would hold the sender back
    module_digest: str | None = None  # of an own module, or of a program over QUIC: what `--resume` compares
    depends: list[str] = []  # modules that such a module needs loaded before
    kernel: str | None = None  # digest of the virtual kernel that it needs, where that is not the run's
    reports_exit: bool = False
    slow_start_exit: Annotated[str, Field(pattern=CAUSE)]
    exit_enters_cwr: bool = False
    exit_label: Annotated[str, Field(min_length=1)]
    colour: Colour
    marker: str
    linestyle: str

    @model_validator(mode="after")
    def _has_no_part_in_the_kernel(self) -> "Cca":
        of_tcp = (self.module, self.params, self.sysctls, self.qdisc, self.first_window_pkts)
        if self.transport == "quic" and any(of_tcp):
            raise ValueError("a sender over QUIC without module, params, sysctls, qdisc and first_window_pkts")
        if (self.transport == "quic") != (self.stack is not None):
            raise ValueError("a sender over QUIC with its stack, or one over TCP without")
        return self

    @property
    def look(self) -> Look:
        """Return what tells its curve from others in every figure."""
        return self.marker, self.linestyle

    @property
    def exit_causes(self) -> dict[str, str]:
        """Return this sender's names of the causes that the watching module reports."""
        reported = ("own", "other") if self.exit_enters_cwr else ("own",)
        return dict.fromkeys(reported, self.slow_start_exit)


def load_ccas() -> dict[str, Cca]:
    """Read every stanza of cca.yml, by name: the senders over TCP; no two look alike."""
    ccas = _load(CCAS, _given_looks())
    _refuse_likeness(ccas, CCAS)
    return ccas


def load_quic() -> dict[str, Cca]:
    """Read every stanza of quic.yml, by name: the senders over QUIC; none looks like another, or one over TCP."""
    tcp = load_ccas()
    quic = _load(QUIC, {cca.look for cca in tcp.values()} | _given_looks())
    for name, cca in quic.items():
        if name in tcp or cca.transport != "quic":
            rule = "another name: lab/cca.yml has it" if name in tcp else "given with transport: quic"
            raise field_error(shown(QUIC), "name", name, rule)
    _refuse_likeness(tcp | quic, QUIC)
    return quic


def load_bpf() -> dict[str, Cca]:
    """Read every stanza of bpf.yml, by name: the source of the BPF program as a module of the virtual kernel."""
    others = load_ccas() | load_quic()
    bpf = _load(BPF, {cca.look for cca in others.values()} | _given_looks())
    for name, cca in bpf.items():
        if name in others or not cca.module:
            rule = "another name: lab/cca.yml or lab/quic.yml has it" if name in others else "given with a module"
            raise field_error(shown(BPF), "name", name, rule)
    _refuse_likeness(others | bpf, BPF)
    return bpf


def load_senders() -> dict[str, Cca]:
    """Return all senders of the lab by name, in the order of every table: those of cca.yml, quic.yml and bpf.yml."""
    return load_ccas() | load_quic() | load_bpf()


def _given_looks() -> set[Look]:
    """Return the looks that stanzas of any file state: no other sender gets one of them."""
    stanzas = [stanza for file in (CCAS, QUIC, BPF) for stanza in _stanzas(file).values()]
    return {(str(stanza.get("marker")), str(stanza.get("linestyle"))) for stanza in stanzas if "marker" in stanza}


def _load(file: Path, taken: Collection[Look]) -> dict[str, Cca]:
    stanzas = _stanzas(file)
    free = looks(taken)
    labels = _labels(stanzas)
    ccas = {}
    for name, stanza in stanzas.items():
        look = {} if "marker" in stanza else next(free)
        ccas[name] = parse(Cca, {"name": name, **look, **_label(name, stanza, labels, file), **stanza}, file)
    return ccas


@cache
def cca_names() -> list[str]:
    """Return the names of cca.yml, quic.yml and bpf.yml: the order of the senders in every table and figure."""
    return [*_stanzas(CCAS), *_stanzas(QUIC), *_stanzas(BPF)]


def _stanzas(file: Path) -> dict[str, Stanza]:
    stanzas = read_yaml(file)
    if not isinstance(stanzas, dict):
        raise field_error(shown(file), "content", stanzas, "one stanza per sender")
    for name, stanza in stanzas.items():
        if not isinstance(stanza, dict):
            raise field_error(shown(file), name, stanza, "a stanza with label, algorithm and slow_start_exit")
    return stanzas


def _labels(stanzas: dict[str, Stanza]) -> dict[str, str]:
    """Return the label of each exit cause: the first stanza that has one decides."""
    labelled = [stanza for stanza in reversed(stanzas.values()) if "exit_label" in stanza]
    return {str(stanza.get("slow_start_exit")): stanza["exit_label"] for stanza in labelled}


def _label(name: str, stanza: Stanza, labels: dict[str, str], file: Path) -> Stanza:
    """Return the label of a stanza's exit cause; UserError where no stanza has one, as for a misspelt cause."""
    cause = stanza.get("slow_start_exit")
    if cause is None:  # refused as a missing field
        return {}
    if str(cause) not in labels:
        rule = f"a cause that has an exit_label: {', '.join(sorted(labels))}"
        raise field_error(shown(file), f"{name}.slow_start_exit", cause, rule)
    return {"exit_label": labels[str(cause)]}


def looks(taken: Collection[Look]) -> Iterator[Stanza]:
    """Generate looks without end, none like one that is taken: each has a marker and line style of its own.

    The marker changes each time, the line style when the markers are used up.
    """
    for number in count():
        style, place = divmod(number, len(MARKERS))
        marker = MARKERS[place] if style < len(LINESTYLES) else f"${number}$"
        look = {
            "colour": COLOURS[number % len(COLOURS)],
            "marker": marker,
            "linestyle": LINESTYLES[style % len(LINESTYLES)],
        }
        if (look["marker"], look["linestyle"]) not in taken:
            yield look


def _refuse_likeness(ccas: dict[str, Cca], file: Path) -> None:
    first: dict[Look, str] = {}
    for name, cca in ccas.items():
        like = first.setdefault(cca.look, name)
        if like != name:
            rule = f"another marker or line style: {like} has the same"
            raise field_error(shown(file), f"{name}.marker", cca.marker, rule)


def load_cca(name: str, named_in: str, field: str, known: Mapping[str, Cca] | None = None) -> Cca:
    """Return one sender that a file names; `known` holds the senders to choose from instead of the lab's."""
    senders, kind = (load_ccas(), "sender of lab/cca.yml") if known is None else (known, "sender")
    if known is None and name not in senders:
        senders, kind = load_senders(), "sender of lab/cca.yml, lab/quic.yml or lab/bpf.yml"
    names = sorted(senders, key=lambda each: (senders[each].transport != "tcp", each))
    return senders[choose(kind, name, names, named_in, field)]
