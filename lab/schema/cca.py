# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders: one stanza of cca.yml each."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import count
from typing import Annotated, Any, Literal

from pydantic import Field

from lab.base.errors import field_error
from lab.base.paths import CCAS
from lab.schema.load import Strict, choose, parse, read_yaml, shown

CAUSE = r"^[a-z0-9_]{1,15}$"  # SLOW_START_CAUSE_BYTES of lab/kernel/search/slow_start.h, without the NUL
Colour = Annotated[str, Field(pattern=r"^#[0-9A-Fa-f]{6}$")]
Stanza = dict[str, Any]  # as YAML has it, not yet checked
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
    algorithm: Annotated[str, Field(pattern=ALGORITHM)]
    module: str | None = None
    params: dict[str, int] = {}
    allocates_bytes: Annotated[int, Field(ge=0)] = 0
    sysctls: dict[SysctlName, str] = {}
    qdisc: Literal["fq"] | None = None
    module_digest: str | None = None  # of a module that is not the lab's own: what `--resume` compares
    depends: list[str] = []  # modules that such a module needs loaded before
    reports_exit: bool = False
    slow_start_exit: Annotated[str, Field(pattern=CAUSE)]
    exit_enters_cwr: bool = False
    exit_label: Annotated[str, Field(min_length=1)]
    colour: Colour
    marker: str
    linestyle: str

    @property
    def exit_causes(self) -> dict[str, str]:
        """Return this sender's names of the causes that the watching module reports."""
        reported = ("own", "other") if self.exit_enters_cwr else ("own",)
        return dict.fromkeys(reported, self.slow_start_exit)


def load_ccas() -> dict[str, Cca]:
    """Read every stanza of cca.yml, by name; no two look alike."""
    stanzas = _stanzas()
    free = looks(())
    labels = _labels(stanzas)
    ccas = {}
    for name, stanza in stanzas.items():
        look = {} if "marker" in stanza else next(free)
        ccas[name] = parse(Cca, {"name": name, **look, **_label(name, stanza, labels), **stanza}, CCAS)
    _refuse_likeness(ccas)
    return ccas


@cache
def cca_names() -> list[str]:
    """Return the names of cca.yml, in its order: that of the senders in every table and figure."""
    return list(_stanzas())


def _stanzas() -> dict[str, Stanza]:
    stanzas = read_yaml(CCAS)
    if not isinstance(stanzas, dict):
        raise field_error(shown(CCAS), "content", stanzas, "one stanza per sender")
    for name, stanza in stanzas.items():
        if not isinstance(stanza, dict):
            raise field_error(shown(CCAS), name, stanza, "a stanza with label, algorithm and slow_start_exit")
    return stanzas


def _labels(stanzas: dict[str, Stanza]) -> dict[str, str]:
    """Return the label of each exit cause: the first stanza that has one decides."""
    labelled = [stanza for stanza in reversed(stanzas.values()) if "exit_label" in stanza]
    return {str(stanza.get("slow_start_exit")): stanza["exit_label"] for stanza in labelled}


def _label(name: str, stanza: Stanza, labels: dict[str, str]) -> Stanza:
    """Return the label of a stanza's exit cause; UserError where no stanza has one, as for a misspelt cause."""
    cause = stanza.get("slow_start_exit")
    if cause is None:  # refused as a missing field
        return {}
    if str(cause) not in labels:
        rule = f"a cause that has an exit_label: {', '.join(sorted(labels))}"
        raise field_error(shown(CCAS), f"{name}.slow_start_exit", cause, rule)
    return {"exit_label": labels[str(cause)]}


def looks(taken: Iterable[Cca]) -> Iterator[Stanza]:
    """Generate looks without end, none like one that is taken: each has a marker and line style of its own.

    The marker changes each time, the line style when the markers are used up.
    """
    used = {(cca.marker, cca.linestyle) for cca in taken}
    for number in count():
        style, place = divmod(number, len(MARKERS))
        marker = MARKERS[place] if style < len(LINESTYLES) else f"${number}$"
        look = {
            "colour": COLOURS[number % len(COLOURS)],
            "marker": marker,
            "linestyle": LINESTYLES[style % len(LINESTYLES)],
        }
        if (look["marker"], look["linestyle"]) not in used:
            yield look


def _refuse_likeness(ccas: dict[str, Cca]) -> None:
    first: dict[tuple[str, str], str] = {}
    for name, cca in ccas.items():
        like = first.setdefault((cca.marker, cca.linestyle), name)
        if like != name:
            rule = f"another marker or line style: {like} has the same"
            raise field_error(shown(CCAS), f"{name}.marker", cca.marker, rule)


def load_cca(name: str, named_in: str, field: str, known: Mapping[str, Cca] | None = None) -> Cca:
    """Return one sender that a file names; `known` holds the senders to choose from instead of those of cca.yml."""
    senders, kind = (load_ccas(), "sender of lab/cca.yml") if known is None else (known, "sender")
    return senders[choose(kind, name, sorted(senders), named_in, field)]
