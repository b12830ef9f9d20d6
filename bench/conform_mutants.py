# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure whether cases notice deliberate faults in senders: packages/conform/mutants/mutants.yml has them.

`python -m bench.conform_mutants [WORD...]` runs those whose case or name has one of the words.
"""

import sys
import tempfile
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
BY_TEXT = ("cubic", "reno")


class Mutant(Strict):
    """One fault, and the case that must notice it."""

    name: Annotated[str, Field(min_length=1)]
    of: Literal["cubic", "reno", "hystartpp", "search"]
    case: str
    old: str = ""
    new: str = ""
    params: dict[str, int] = {}


def main(words: list[str]) -> None:
    """Run the mutants, and print each with the line that noticed it."""
    console = Console(stderr=True)
    virtual = prepare(Recipe(), console)
    mutants = TypeAdapter(list[Mutant]).validate_python(read_yaml(FOLDER / "mutants.yml"))
    chosen_ones = [each for each in mutants if not words or any(word in f"{each.case} {each.name}" for word in words)]
    caught = 0
    for number, each in enumerate(chosen_ones, start=1):
        original, verdict = _verdict(each, virtual, mutated=False), _verdict(each, virtual)
        noticed = original.outcome == "passed" and verdict.outcome == "failed"
        caught += noticed
        state = "noticed" if noticed else f"NOT NOTICED (the sender as it is: {original.outcome})"
        print(f"{number}. {each.of}: {each.name}: {each.case}: {state}: {verdict.reason}", flush=True)
    print(f"{caught} of {len(chosen_ones)} mutants are noticed")


def _verdict(mutant: Mutant, virtual: Virtual, mutated: bool = True) -> Verdict:
    case = chosen(None, mutant.case)
    cca, with_own = _sender(mutant, virtual, mutated)
    bench = Bench(with_own, cores(), Console(quiet=True))
    stated = subject(known_senders([mutant.of])[mutant.of], case)
    return verdicts(case, [type(stated)(cca, stated.follows, stated.offers)], bench)[0]


def _sender(mutant: Mutant, virtual: Virtual, mutated: bool) -> tuple[Cca, Virtual]:
    """Return the sender with its fault, or as it is, by the same way."""
    if mutant.of not in BY_TEXT:
        known = known_senders([mutant.of])[mutant.of]
        return known.model_copy(update={"params": mutant.params} if mutated else {}), virtual
    text = _source(mutant.of, virtual)
    if mutant.old not in text:
        raise SystemExit(f"{mutant.name}: old={mutant.old}: must be a text of {mutant.of}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{mutant.of}_mutant.c"
        file.write_text(text.replace(mutant.old, mutant.new, 1) if mutated else text)
        senders, with_own = own_senders_of(TryRequest((file,)), virtual, Console(quiet=True))
    (cca,) = senders.values()
    return cca, with_own


def _source(name: str, virtual: Virtual) -> str:
    if name == "reno":
        return (FOLDER / "reno.c").read_text()
    tree = virtual.kernel.folders[0] / "src/net/ipv4/tcp_cubic.c"
    return tree.read_text().replace('.name		= "cubic"', '.name		= "cubic_mutant"')


if __name__ == "__main__":
    main(sys.argv[1:])
