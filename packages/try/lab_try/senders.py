# SPDX-License-Identifier: GPL-2.0-or-later
"""From tested modules to senders: named by what a module registers, since it has no stanza."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.base.errors import COMMAND_LINE, field_error
from lab.schema.cca import Cca, Stanza, Value, load_senders, looks
from lab_try.module.build import OwnModule
from lab_try.node.smoke import Smoke

ARRAY = "array of "
TEXT = (r"[!#-~]{1,200}", "1 to 200 letters, digits and signs, without blanks and quotation marks")
TEXTS = {  # types whose values are no whole numbers: a form, and how a refusal states it
    "bool": ("[01YN]", "Y or N"),
    "invbool": ("[01YN]", "Y or N"),
    "charp": TEXT,
    "string": TEXT,
    "hexint": ("0x[0-9A-Fa-f]{1,8}|0|[1-9][0-9]{0,9}", "a whole number, such as 31 or 0x1f"),
}
NUMBER = ("-?[0-9]{1,20}", "a whole number")


def read_params(given: Sequence[str], modules: Sequence[OwnModule]) -> dict[str, Value]:
    """Read name=value pairs; UserError where no module has such a parameter, or it is of another type."""
    params = dict[str, Value]()
    known = {name: kind for module in modules for name, kind in module.parameters.items()}
    for text in given:
        name, _, value = text.partition("=")
        if name not in known:
            rule = f"a parameter of the module: {', '.join(sorted(known)) or 'none'}"
            raise field_error(COMMAND_LINE, "param", name, rule)
        if name in params:
            raise field_error(COMMAND_LINE, f"param {name}", value, f"given once: it is {params[name]} already")
        params[name] = _value(name, value, known)
    return params


def _value(name: str, value: str, known: Mapping[str, str]) -> Value:
    kind = known[name]
    form, rule = TEXTS.get(kind.removeprefix(ARRAY), NUMBER)
    is_list = kind.startswith(ARRAY)
    if not all(re.fullmatch(form, each) for each in (value.split(",") if is_list else [value])):
        raise field_error(COMMAND_LINE, f"param {name}", value, f"a list with commas, each {rule}" if is_list else rule)
    if kind.removeprefix(ARRAY) == "hexint":
        return ",".join(f"{int(each, 0):#08x}" for each in value.split(","))  # as the kernel shows them
    return value if is_list or form != NUMBER[0] else int(value)


REPORTS = "tcp_slow_start"  # a module that needs it reports its exits itself (slow_start.h)
EXIT, EXIT_LABEL = "own", "the sender's own rule"
ECN = {"net.ipv4.tcp_ecn": "1"}  # both ends negotiate it, as for the lab's dctcp


@dataclass(frozen=True)
class Passed:
    """A module that passed its smoke test."""

    module: OwnModule
    params: Mapping[str, Value]
    smoke: Smoke


@dataclass(frozen=True)
class Registered:
    """One algorithm of a module."""

    tested: Passed
    algorithm: str

    @property
    def names(self) -> tuple[str, ...]:
        """Return names for it, the plainest first; the last one is of its content."""
        path, digest = self.tested.module.source.path.resolve(), self.tested.module.source.digest
        parts = (self.tested.module.source.name, _plain(path.parent.name), digest[:4])
        name = _plain(self.algorithm)
        return (name, *(f"{name}_{part}" for part in parts))


def own_senders(tested: Iterable[Passed]) -> dict[str, Cca]:
    """Return a sender for each algorithm that the modules register; UserError where two are the same.

    None looks like one of the lab's, or like another.
    """
    registered = [Registered(one, algorithm) for one in tested for algorithm in one.smoke["algorithms"]]
    known = load_senders()
    free = looks({cca.look for cca in known.values()})
    named = zip(_names(registered, known), registered, strict=True)
    return {name: _sender(name, one, next(free)) for name, one in named}


def _names(registered: list[Registered], known: Mapping[str, Cca]) -> list[str]:
    """Name each algorithm as plainly as keeps it apart from the others and from the lab's senders."""
    plain = Counter(one.names[0] for one in registered)
    taken = {*known, *(name for name, count in plain.items() if count > 1)}
    longer = [one.names[0] in taken for one in registered]
    for names in zip(*(one.names for one in registered), strict=True):
        chosen = [name if long else one.names[0] for name, long, one in zip(names, longer, registered, strict=True)]
        if len({*chosen}) == len(chosen) and not {*chosen} & taken:
            return chosen
    twice = Counter(one.tested.module.source.path for one in registered).most_common(1)[0][0]
    raise field_error(COMMAND_LINE, "source", twice, "a module with another content than the others")


def _sender(name: str, one: Registered, look: Stanza) -> Cca:
    module = one.tested.module
    return Cca(
        name=name,
        label=name,
        algorithm=one.algorithm,
        module=module.name,
        module_digest=module.source.digest,
        depends=list(module.depends),
        params=one.tested.params,
        sysctls=ECN if one.algorithm in one.tested.smoke["needs_ecn"] else {},
        qdisc="fq" if module.paces else None,  # as for the lab's bbr
        reports_exit=REPORTS in module.depends,
        slow_start_exit=EXIT,
        exit_label=EXIT_LABEL,
        **look,
    )


def module_files(modules: Iterable[OwnModule]) -> dict[str, Path]:
    """Return the file of each module by the digest of its source."""
    return {module.source.digest: module.file for module in modules}


def _plain(name: str) -> str:
    return "".join(each if each.isalnum() and each.isascii() else "_" for each in name.lower())
