# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders: one stanza of cca.yml each."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, Self, get_args

from pydantic import Field, TypeAdapter, model_validator

from lab.base.choice import choose
from lab.base.entry_points import loaded
from lab.base.errors import field_error
from lab.base.named_files import shown
from lab.base.paths import CCAS
from lab.schema.load import Strict, like, parse, read_text, read_yaml

ESTIMATED = "estimated"  # cause of an exit that packets alone show
Cause = Annotated[
    str, like(r"[a-z0-9_]{1,15}", "1 to 15 small letters, digits and _")
]  # SLOW_START_CAUSE_BYTES of lab/kernel/search/slow_start.h, without the NUL
NAME_RULE = "{} letters, digits and _ . - only, with no . or - first"
Name = Annotated[str, like(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", NAME_RULE.format("1 to 100"))]  # part of files' names
Colour = Annotated[str, like(r"#[0-9A-Fa-f]{6}", "a colour such as #0072B2")]
MARKER_RULE = "a marker of matplotlib, or 1 to 5 letters and digits between two $"
Marker = Annotated[str, like(r"[.,ov^<>1-4+xXDdHhpPs8|_*]|\$[A-Za-z0-9]{1,5}\$", MARKER_RULE)]
# No mathematics, no command of TeX, and no more than a figure has room for.
LABEL_RULE = "some text without $ \\ { } and control characters, of at most 200"
Label = Annotated[str, like(r"[^$\\{}\x00-\x1f\x7f-\x9f]{1,200}", LABEL_RULE)]
ALGORITHM = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}"  # the kernel's TCP_CA_NAME_MAX is 16
Algorithm = Annotated[str, like(ALGORITHM, NAME_RULE.format("1 to 15"))]
LineStyle = Literal["-", "--", "-.", ":"]
Stanza = dict[str, Any]  # as YAML has it, not yet checked
Value = int | str  # of a module's parameter; a text in a user's module alone, which states its types
WHOLE = TypeAdapter(dict[Literal["params"], dict[str, int]])
Look = tuple[str, str]  # marker and line style
FirstWindow = Annotated[int, Field(ge=44, le=100_000)]  # from what lab/sysctls.yml has
SysctlName = Annotated[str, like(r"net\.ipv4\.[a-z0-9_]+", "a sysctl of net.ipv4, such as net.ipv4.tcp_reordering")]

# Looks of senders without one: colours of Okabe and Ito, and a marker and line style that no other sender has. When
# all these are taken, a number is the marker.
COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#000000")
MARKERS = ("v", "<", ">", "p", "P", "X", "d", "h", "*")
LINESTYLES = get_args(LineStyle)


class Cca(Strict):
    """A congestion control, how to get it into the kernel, and how it is drawn everywhere."""

    name: Name
    label: Label
    transport: str = "tcp"
    stack: str | None = None  # of another transport, where it has several
    algorithm: Algorithm
    module: str | None = None
    params: Mapping[str, Value] = {}
    allocates_bytes: Annotated[int, Field(ge=0)] = 0
    sysctls: dict[SysctlName, str] = {}
    qdisc: Literal["fq"] | None = None
    first_window_pkts: FirstWindow | None = None  # of the receiver, where 44 would hold the sender back
    module_digest: str | None = None  # of an own module, or of a program that sends: what `--resume` compares
    depends: list[str] = []  # modules that such a module needs loaded before
    kernel: str | None = None  # digest of the virtual kernel that it needs, where that is not the run's
    reports_exit: bool = False
    slow_start_exit: Cause
    exit_enters_cwr: bool = False
    exit_label: Label
    colour: Colour
    marker: Marker
    linestyle: LineStyle

    @model_validator(mode="after")
    def _has_whole_numbers(self) -> Self:
        if self.module_digest is None:
            WHOLE.validate_python({"params": self.params}, strict=True)
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


class StanzaFile(Protocol):
    """A file of senders that a package brings: the part of lab/senders/way.py's Way that reading it needs."""

    @property
    def file(self) -> Path | None:
        """Return the file, with stanzas as cca.yml has; None where users bring all of its senders."""

    @property
    def order(self) -> int:
        """Return its place in the order of all senders; those of cca.yml come first."""

    def check(self, cca: Cca) -> None:
        """Raise UserError where a sender of the file is none of its kind."""


def load_ccas() -> dict[str, Cca]:
    """Read every stanza of cca.yml, by name: senders over TCP in the kernel; no two look alike."""
    return dict(_kernel_senders(tuple((file, read_text(file)) for file in _files())))


@lru_cache(maxsize=8)
def _kernel_senders(_stanza_files: tuple[tuple[Path, str], ...]) -> dict[str, Cca]:
    """Read cca.yml once for the same files and texts of stanzas: `lab check` asks for senders of every scenario."""
    ccas = _load(CCAS, _given_looks())
    for name, cca in ccas.items():
        if cca.transport != "tcp" or cca.stack:
            field = "stack" if cca.transport == "tcp" else "transport"
            rule = "left out: the kernel sends over TCP; a package's file has other senders"
            raise field_error(shown(CCAS), f"{name}.{field}", getattr(cca, field), rule)
    _refuse_likeness(ccas, CCAS)
    return ccas


def search_versions() -> tuple[str, ...]:
    """Return the names of SEARCH's versions: the senders of cca.yml that leave slow start by it."""
    return tuple(name for name, cca in load_ccas().items() if cca.slow_start_exit == "search")


def load_senders() -> dict[str, Cca]:
    """Return all senders of the lab by name, in the order of every table: those of cca.yml, then those of packages."""
    senders, files = load_ccas(), [shown(CCAS)]
    for brought_file in stanza_files():
        if brought_file.file:
            senders = load_with(brought_file, senders, " or ".join(files))
            files.append(shown(brought_file.file))
    return senders


def load_with(brought_file: StanzaFile, others: dict[str, Cca], named_in: str) -> dict[str, Cca]:
    """Return other senders with those of a package's file; none has the name or the look of another."""
    file = brought_file.file
    assert file
    own = _load(file, {cca.look for cca in others.values()} | _given_looks())
    for name, cca in own.items():
        if name in others:
            raise field_error(shown(file), "name", name, f"another name: {named_in} has it")
        brought_file.check(cca)
    _refuse_likeness(others | own, file)
    return others | own


def stanza_files() -> list[StanzaFile]:
    """Return what packages bring by entry points of the group `lab.senders`, in the order of every table."""
    found: Collection[StanzaFile] = loaded("lab.senders").values()
    return sorted(found, key=lambda each: (each.order, each.file.name if each.file else ""))


def _files() -> list[Path]:
    return [CCAS, *(each.file for each in stanza_files() if each.file)]


def _given_looks() -> set[Look]:
    """Return the looks that stanzas of any file state: no other sender gets one of them."""
    stanzas = [stanza for file in _files() for stanza in _stanzas(file).values()]
    return {(str(stanza.get("marker")), str(stanza.get("linestyle"))) for stanza in stanzas if "marker" in stanza}


def _load(file: Path, taken: Collection[Look]) -> dict[str, Cca]:
    stanzas = _stanzas(file)
    free = looks(taken)
    labels = _labels(stanzas)
    ccas = {}
    for name, stanza in stanzas.items():
        look = {} if "marker" in stanza else next(free)
        ccas[name] = parse(Cca, {"name": name, **look, **_label(name, stanza, labels, file), **stanza}, file, name)
    return ccas


@cache
def cca_names() -> list[str]:
    """Return the names of cca.yml and of packages' files: the order of the senders in every table and figure."""
    return [name for file in _files() for name in _stanzas(file)]


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
    senders = load_ccas() if known is None else known
    if known is None and name not in senders:
        senders = load_senders()
    kind = "sender of lab/cca.yml or a package" if known is None else "sender"
    names = sorted(senders, key=lambda each: (senders[each].transport != "tcp", each))
    return senders[choose(kind, name, names, named_in, field)]
