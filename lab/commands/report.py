# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab report`: a run's answer in the terminal first, then its tables, figures and page."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from lab.base.choice import names
from lab.base.console import write
from lab.base.errors import COMMAND_LINE, field_error
from lab.base.processes import processors
from lab.base.workers import one_pool
from lab.commands.lines import say, show_path
from lab.report import kept
from lab.report.report_files import FIGURES, FORMS, PAGE, Basis

if TYPE_CHECKING:  # an unchanged report is shown again without what judges and draws
    from lab.report.answer import Answer

DRAWING = ("lab.report.figures", "lab.figures.save")  # what imports all that draws


def forms_of(text: str | None) -> tuple[str, ...]:
    """Return the forms of --format, with commas between them; UserError where one is none."""
    forms = tuple(names(text)) if text else ()
    for form in forms:
        if form not in FORMS:
            raise field_error(COMMAND_LINE, "format", form, f"one of {', '.join(FORMS)}")
    return forms


def report(folder: Path, console: Console, forms: Collection[str] = (), verbose: bool = False) -> None:
    """Print the answer, then write every form of the report.

    Where nothing that it depends on has changed, what was printed then is printed again.
    """
    basis = Basis.of(folder, forms)
    look = repr((verbose, console.options, console.color_system, console.no_color))
    if (printed := kept.printed(folder, basis.key, look)) is None:
        _answer(basis, console, verbose, look)
    else:
        write(console, printed)
    for name, file in {"page": PAGE, "figures": FIGURES, "summary": "summary.csv", "raw data": "trials"}.items():
        show_path(console, name, folder / file)


def _answer(basis: Basis, console: Console, verbose: bool, look: str) -> None:
    with one_pool() as pool:
        if kept.kept(basis.run_dir, basis.key) is None:
            pool.start(processors(), DRAWING)
        from lab.commands.progress import watched  # here: workers start meanwhile
        from lab.report.answer import answer_of

        answer = answer_of(basis.run_dir)
        with console.capture() as captured:
            show(answer, console, verbose)
        write(console, captured.get())
        from lab.report.write import write_answered  # here: the answer need not wait for it

        write_answered(answer, basis, watched(console, "drawing"), {look: captured.get()})


def show(answer: "Answer", console: Console, verbose: bool) -> None:
    """Print a row per sender, the reason of each trial that is left out, and the answer in a sentence."""
    from lab.report.brief import drawn
    from lab.report.table import Table
    from lab.report.text import shown

    if verbose:
        console.print(shown((), answer.tables, console.width))
    elif isinstance(answer.brief, Table):
        console.print(shown((), (answer.brief,), console.width))
    else:
        console.print(drawn(answer.brief))
    for trial in answer.invalid:
        say(console, trial.line)
    for sentence in answer.headline if verbose else (*answer.headline[:1], *answer.missing):
        say(console, sentence)
