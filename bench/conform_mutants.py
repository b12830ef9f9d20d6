# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure whether cases notice deliberate faults in senders: packages/conform/mutants/mutants.yml has them.

`python -m bench.conform_mutants [WORD...]` runs those whose case or name has one of the words.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

from lab_conform.case import chosen
from lab_conform.run import Bench, verdicts
from lab_conform.subject import subject
from lab_conform.verdict import Verdict
from pydantic import Field, TypeAdapter
from rich.console import Console

from lab.backends.virtual import Virtual
from lab.commands.prepare import prepare
from lab.commands.try_own import TryRequest, own_senders_of
from lab.evaluation.compare.comparison import known_senders
from lab.kernel.recipe import Recipe
from lab.runs.options import cores
from lab.schema.cca import Cca
from lab.schema.load import Strict, read_yaml

FOLDER = Path(__file__).parents[1] / "packages/conform/mutants"
LAB = Path(__file__).parents[1] / "lab/kernel"
CAREFUL_RESUME = {
    "startup": ("tcp_careful_resume.c", "careful_resume_core.c", "careful_resume_core.h", "startup_pacing.h"),
    "search": ("kernel_cubic.h", "slow_start.h", "bounded_param.h", "search_shim.h"),
}
KBUILD = """obj-m := careful_mutant.o
careful_mutant-y := tcp_careful_resume.o careful_resume_core.o
ccflags-y := -DKERNEL_CUBIC_SOURCE='"cubic.h"'
"""
AS_KNOWN = ("sysctls", "qdisc", "first_window_pkts", "slow_start_exit", "exit_enters_cwr", "exit_label")
Sources = dict[str, str]  # texts by file name


class Mutant(Strict):
    """One fault, and the case that must notice it."""

    name: Annotated[str, Field(min_length=1)]
    of: Literal["cubic", "reno", "bbr", "careful_resume", "hystartpp", "search"]
    case: str
    old: str = ""
    new: str = ""
    params: dict[str, int] = {}


def main(words: list[str]) -> None:
    """Run the mutants, and print each with the line that noticed it."""
    virtual = prepare(Recipe(), Console(stderr=True))
    mutants = TypeAdapter(list[Mutant]).validate_python(read_yaml(FOLDER / "mutants.yml"))
    chosen_ones = [each for each in mutants if not words or any(word in f"{each.case} {each.name}" for word in words)]
    caught: Counter[str] = Counter()
    for number, each in enumerate(chosen_ones, start=1):
        original, verdict = _verdict(each, virtual, mutated=False), _verdict(each, virtual)
        noticed = original.outcome == "passed" and verdict.outcome == "failed"
        caught[_suite(each)] += noticed
        state = "noticed" if noticed else f"NOT NOTICED (the sender as it is: {original.outcome})"
        print(f"{number}. {each.of}: {each.name}: {each.case}: {state}: {verdict.reason}", flush=True)
    for suite, count in Counter(map(_suite, chosen_ones)).items():
        print(f"{suite}: {caught[suite]} of {count} mutants are noticed")


def _suite(mutant: Mutant) -> str:
    return mutant.case.split("/")[0]


def _verdict(mutant: Mutant, virtual: Virtual, mutated: bool = True) -> Verdict:
    case = chosen(None, mutant.case)
    cca, with_own = _sender(mutant, virtual, mutated)
    bench = Bench(with_own, cores(), Console(quiet=True))
    stated = subject(known_senders([mutant.of])[mutant.of], case)
    return verdicts(case, [type(stated)(cca, stated.follows, stated.offers)], bench)[0]


def _sender(mutant: Mutant, virtual: Virtual, mutated: bool) -> tuple[Cca, Virtual]:
    """Return the sender with its fault, or as it is, by the same way."""
    known = known_senders([mutant.of])[mutant.of]
    if mutant.params:
        return known.model_copy(update={"params": mutant.params} if mutated else {}), virtual
    sources = _sources(mutant.of, virtual)
    faulty = _with_fault(mutant, sources)
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / f"{mutant.of}_mutant"
        own.mkdir()
        for name, text in (faulty if mutated else sources).items():
            (own / name).write_text(text)
        senders, with_own = own_senders_of(TryRequest((own,)), virtual, Console(quiet=True))
    (cca,) = senders.values()
    return cca.model_copy(update={name: getattr(known, name) for name in AS_KNOWN}), with_own


def _with_fault(mutant: Mutant, sources: Sources) -> Sources:
    """Return sources in which one text of one file is another."""
    having = [name for name, text in sources.items() if mutant.old in text]
    if not mutant.old or not having:
        raise SystemExit(f"{mutant.name}: old={mutant.old}: must be a text of {mutant.of}")
    return {**sources, having[0]: sources[having[0]].replace(mutant.old, mutant.new, 1)}


def _sources(name: str, virtual: Virtual) -> Sources:
    """Return the files of a sender that a folder of one's own has, under another name of the algorithm."""
    if name == "reno":
        return {"reno_mutant.c": (FOLDER / "reno.c").read_text()}
    ipv4 = virtual.kernel.folders[0] / "src/net/ipv4"
    if name != "careful_resume":
        text = (ipv4 / f"tcp_{name}.c").read_text()
        return {f"{name}_mutant.c": text.replace(f'.name\t\t= "{name}"', f'.name\t\t= "{name}_mutant"')}
    sources = {file: (LAB / room / file).read_text() for room, files in CAREFUL_RESUME.items() for file in files}
    main_file = sources["tcp_careful_resume.c"]
    return sources | {
        "tcp_careful_resume.c": main_file.replace('= "careful_resume"', '= "careful_mutant"'),
        "search_shim.h": sources["search_shim.h"].replace(
            "search_export EXPORT_SYMBOL_GPL", "search_export(name) static_assert(true, #name)"
        ),
        "cubic.h": (ipv4 / "tcp_cubic.c").read_text(),
        "Kbuild": KBUILD,
    }


if __name__ == "__main__":
    main(sys.argv[1:])
