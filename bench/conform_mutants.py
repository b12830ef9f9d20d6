# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure whether cases notice deliberate faults in senders: packages/conform/mutants/mutants.yml has them.

`python -m bench.conform_mutants [WORD...]` runs those whose case or name has one of the words. Each result replaces
that of the same mutant in results/bench/conform-mutants.json; others stay as they were published.
"""

import hashlib
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from lab_compare.comparison import known_senders
from lab_conform.case import chosen
from lab_conform.run import Bench, verdicts
from lab_conform.subject import subject
from lab_conform.verdict import Verdict
from lab_try.command import TryRequest, own_senders_of
from pydantic import Field, TypeAdapter
from rich.console import Console

from bench.measured import Figure, last, run_command, store
from lab.backends.virtual import Virtual
from lab.base.errors import UserError
from lab.base.processes import processors
from lab.commands.prepare import prepare
from lab.kernel.recipe import Recipe
from lab.schema.cca import Cca
from lab.schema.load import Strict, read_yaml

STORED = "conform-mutants"
TARGET = "at least 90"
FOLDER = Path(__file__).parents[1] / "packages/conform/mutants"
LAB = Path(__file__).parents[1] / "lab/kernel"
SHARED = ("kernel_cubic.h", "slow_start.h", "bounded_param.h", "search_shim.h")
OF_THE_LAB: dict[str, dict[str, tuple[str, ...]]] = {  # folders and files, the module's own first
    "bbr3": {
        "startup": (
            *("tcp_bbr3.c", "bbr3_core.c", "bbr3_model_core.c", "bbr3_probe_core.c", "sent_core.c"),
            *("bbr3_core.h", "bbr3_parts.h", "bbr3_tcp.h", "sent_core.h", "startup_heap.h", "startup_pacing.h"),
        ),
        "search": ("bounded_param.h", "no_memory_flows.h", "search_shim.h", "slow_start.h"),
    },
    "careful_resume": {
        "startup": ("tcp_careful_resume.c", "careful_resume_core.c", "careful_resume_core.h", "startup_pacing.h"),
        "search": SHARED,
    },
    "hystartpp": {"search": ("tcp_hystartpp_main.c", "hystartpp_core.c", "hystartpp_core.h", *SHARED)},
}
AT_ONCE = 4  # are built together
NAMED = re.compile(r'(\.name\s*= |_NAME )"[a-z0-9_]+"')
KBUILD = """obj-m := {name}.o
{name}-y := {objects}
ccflags-y := -DKERNEL_CUBIC_SOURCE='"cubic.h"'
"""
AS_KNOWN = ("sysctls", "qdisc", "first_window_pkts", "slow_start_exit", "exit_enters_cwr", "exit_label")
Sources = dict[str, str]  # texts by file name
Row = dict[str, Any]  # a mutant, its case and whether that noticed it


class Mutant(Strict):
    """One fault, and the case that must notice it."""

    name: Annotated[str, Field(min_length=1)]
    of: Literal["cubic", "reno", "bbr", "bbr3", "careful_resume", "hystartpp", "search"]
    case: str
    old: str = ""
    new: str = ""
    params: dict[str, int] = {}
    sysctls: dict[str, str] = {}

    @property
    def suite(self) -> str:
        return self.case.split("/")[0]


def main(words: list[str]) -> None:
    """Run the mutants, and print each with the line that noticed it."""
    virtual = prepare(Recipe(), Console(stderr=True))
    known = all_mutants()
    chosen_ones = [each for each in known if not words or any(word in f"{each.case} {each.name}" for word in words)]
    if not chosen_ones:
        raise UserError(f"command line: words={' '.join(words)}: must be in the case or the name of a mutant")
    for begin in range(0, len(chosen_ones), AT_ONCE):
        some = chosen_ones[begin : begin + AT_ONCE]
        for each, (original, mutated) in zip(some, verdicts_of(some, virtual), strict=True):
            found = noticed(original, mutated)
            state = "noticed" if found else f"NOT NOTICED (the sender as it is: {original.outcome})"
            print(f"{each.of}: {each.name}: {each.case}: {state}: {mutated.reason}", flush=True)
            _keep({"case": each.case, "mutant": f"{each.of}: {each.name}", "noticed": found}, known)


def all_mutants() -> list[Mutant]:
    """Return the mutants."""
    return TypeAdapter(list[Mutant]).validate_python(read_yaml(FOLDER / "mutants.yml"))


def noticed(original: Verdict, mutated: Verdict) -> bool:
    """Return whether a check noticed the fault; a mutant without a valid trial says nothing of the case."""
    return original.outcome == "passed" and any(not each.passed for each in mutated.checked)


def _keep(found: Row, mutants: list[Mutant]) -> None:
    """Store a result next to those of the other mutants that there are."""
    stored: list[Row] = last(STORED).get("mutants", [])
    rows = {(each["case"], each["mutant"]): each for each in [*stored, found]}
    keys = [(each.case, f"{each.of}: {each.name}") for each in mutants]
    kept = [rows[key] for key in keys if key in rows]
    store(STORED, "python -m bench.conform_mutants", _figures(kept, mutants), {"mutants": kept})


def _figures(rows: list[Row], mutants: list[Mutant]) -> list[Figure]:
    """Return per suite how many of its mutants there are, ran and were noticed."""
    there, ran, noticed = (
        Counter(case.split("/")[0] for case in cases)
        for cases in (
            [each.case for each in mutants],
            [each["case"] for each in rows],
            [each["case"] for each in rows if each["noticed"]],
        )
    )
    found: list[Figure] = []
    for suite, count in there.items():
        share = round(100 * noticed[suite] / ran[suite]) if ran[suite] else None
        found += [
            {"name": f"{suite}: mutants", "value": count, "unit": "", "target": "at least 10"},
            {"name": f"{suite}: that ran", "value": ran[suite], "unit": ""},
            {"name": f"{suite}: noticed", "value": noticed[suite], "unit": ""},
            {"name": f"{suite}: share", "value": share, "unit": "%", "target": TARGET},
        ]
    return found


def verdicts_of(mutants: list[Mutant], virtual: Virtual) -> Iterator[tuple[Verdict, Verdict]]:
    """Yield the verdict on the sender as it is and on the mutant; both come the same way."""
    cells = [(each, faulty) for each in mutants for faulty in (False, True)]
    with tempfile.TemporaryDirectory() as folder:
        places = [_written(Path(folder), each, virtual, faulty) for each, faulty in cells]
        own = tuple(dict.fromkeys(each for each in places if each))
        console = Console(quiet=True)
        senders, with_own = own_senders_of(TryRequest(own), virtual, console) if own else ({}, virtual)
    pairs = []
    for (each, faulty), place in zip(cells, places, strict=True):
        known, (case,) = known_senders([each.of])[each.of], chosen(None, each.case)
        cca = _as_known(senders[place.name], known) if place else _with_params(known, each, faulty)
        pairs.append((case, replace(subject(known, [case]), cca=cca)))
    found = verdicts(pairs, Bench(with_own, processors(), console))
    yield from zip(found[::2], found[1::2], strict=True)


def _as_known(own: Cca, known: Cca) -> Cca:
    return own.model_copy(update={name: getattr(known, name) for name in AS_KNOWN})


def _with_params(known: Cca, mutant: Mutant, faulty: bool) -> Cca:
    changed = {"params": mutant.params, "sysctls": known.sysctls | mutant.sysctls}
    return known.model_copy(update=changed) if faulty else known


def _written(folder: Path, mutant: Mutant, virtual: Virtual, faulty: bool) -> Path | None:
    """Write the sources of a mutant, or of its sender as it is, to a folder of its own; None where it is settings."""
    if mutant.params or mutant.sysctls:
        return None
    number = hashlib.sha256(f"{mutant.old} {mutant.new}".encode()).hexdigest()[:4] if faulty else "same"
    place = folder / f"{mutant.of[:9]}_{number}"
    sources = _sources(mutant.of, place.name, virtual)
    place.mkdir(exist_ok=True)
    for name, text in (_with_fault(mutant, sources) if faulty else sources).items():
        (place / name).write_text(text)
    return place


def _with_fault(mutant: Mutant, sources: Sources) -> Sources:
    """Return sources in which one text of one file is another."""
    having = [name for name, text in sources.items() if mutant.old in text]
    if not mutant.old or not having:
        raise SystemExit(f"{mutant.name}: old={mutant.old}: must be a text of {mutant.of}")
    return {**sources, having[0]: sources[having[0]].replace(mutant.old, mutant.new, 1)}


def _sources(of: str, name: str, virtual: Virtual) -> Sources:
    """Return the files of a sender as a folder of one's own has them, with another name of module and algorithm."""
    ipv4 = virtual.kernel.folders[0] / "src/net/ipv4"
    if of not in OF_THE_LAB:
        file = FOLDER / "reno.c" if of == "reno" else ipv4 / f"tcp_{of}.c"
        return {f"{name}.c": NAMED.sub(rf'\g<1>"{name}"', file.read_text())}
    files = {file: (LAB / room / file).read_text() for room, names in OF_THE_LAB[of].items() for file in names}
    shim = files["search_shim.h"].replace("search_export EXPORT_SYMBOL_GPL", "search_export(name) static_assert(true)")
    main = next(iter(files))
    built = KBUILD.format(name=name, objects=" ".join(f"{Path(each).stem}.o" for each in files if each.endswith(".c")))
    own = {main: NAMED.sub(rf'\g<1>"{name}"', files[main]), "search_shim.h": shim, "Kbuild": built}
    return files | own | {"cubic.h": (ipv4 / "tcp_cubic.c").read_text()}


if __name__ == "__main__":
    run_command(main, sys.argv[1:])
