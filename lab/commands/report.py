# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab report`: a run's answer in the terminal first, then its tables, figures and page."""

from collections.abc import Collection
from pathlib import Path

from rich.console import Console

from lab.base.command_line import COMMAND_LINE
from lab.base.errors import field_error
from lab.base.workers import one_pool
from lab.commands.lines import say, show_path
from lab.commands.progress import watched
from lab.kernel.build import Kernel
from lab.report.answer import Answer, answer_of
from lab.report.brief import drawn as drawn_brief
from lab.report.drawn import FORMS
from lab.report.table import Table
from lab.report.text import shown


def forms_of(names: str | None) -> tuple[str, ...]:
    """Return the forms of --format, with commas between them; UserError where one is none."""
    forms = tuple(name.strip() for name in names.split(",")) if names else ()
    for form in forms:
        if form not in FORMS:
            raise field_error(COMMAND_LINE, "format", form, f"one of {', '.join(FORMS)}")
    return forms


def report(
    folder: Path, kernel: Kernel | None, console: Console, forms: Collection[str] = (), verbose: bool = False
) -> Answer:
    """Print the answer, then write every form of the report; without a kernel some figures cannot be drawn."""
    with one_pool():
        answer = answer_of(folder)
        show(answer, console, verbose)
        from lab.report.write import write_answered  # here: the answer need not wait for it

        library = kernel.replay_library if kernel else None
        paths = write_answered(answer, library, forms, watched=watched(console, "drawing"))
    show_path(console, "page", paths.page)
    show_path(console, "figures", paths.page.parent / "figures")
    show_path(console, "summary", paths.summary_csv)
    show_path(console, "raw data", answer.run.path / "trials")
    return answer


def show(answer: Answer, console: Console, verbose: bool) -> None:
    """Print a row per sender, the reason of each trial that is left out, and the answer in a sentence."""
    if verbose:
        console.print(shown((), answer.tables, console.width))
    elif isinstance(answer.brief, Table):
        console.print(shown((), (answer.brief,), console.width))
    else:
        console.print(drawn_brief(answer.brief))
    for trial in answer.invalid:
        say(console, trial.line)
    for sentence in answer.headline if verbose else (*answer.headline[:1], *answer.missing):
        say(console, sentence)
