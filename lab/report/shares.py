# SPDX-License-Identifier: GPL-2.0-or-later
"""Downloads at the same time on the page: who gets how much of the link, in a sentence and as a table."""

from collections.abc import Sequence
from itertools import islice

from lab.base.format import mean, number, trials_text
from lab.base.stats import mean_sd
from lab.evaluation.shares import Shares, jain, shares
from lab.judge.stored import Stored
from lab.report.table import Group, Row, Table
from lab.tables.records import RivalRecord, beside

HEADER = ("Download", "Count", "Each (Mb/s)", "Of an equal share (%)", "Jain's index", "Trials")
CAPTION = (
    "How the downloads share the link while all of them are there, as mean (sd) over a row's downloads in all valid "
    "trials. An equal share is the mean of all downloads. Jain's index is 1 where all get the same, and 1/n where one "
    "of n gets all."
)


def of_run(stored: Stored) -> tuple[tuple[str, ...], tuple[Table, ...]]:
    """Return the sentences and the table of a run with rivals; nothing of others."""
    if not beside(stored.run.scenario):
        return (), ()
    found = {stanza["name"]: [each for each in shares(stored) if each.cca == stanza["name"]] for stanza in stored.ccas}
    labels = {stanza["name"]: stanza["label"] for stanza in stored.ccas}
    whole = {cca: [each for each in trials if each.rates_mbps] for cca, trials in found.items()}
    entries = stored.run.scenario.get("rivals") or [{"cca": beside(stored.run.scenario), "count": 1}]
    groups = tuple(Group(labels[cca], _rows(trials, entries)) for cca, trials in whole.items() if trials)
    sentences = tuple(_sentence(labels[cca], trials) for cca, trials in whole.items() if trials)
    sentences += tuple(
        _left_out(labels[cca], found[cca], trials) for cca, trials in whole.items() if trials != found[cca]
    )
    return sentences, ((Table("shares", CAPTION, HEADER, groups),) if groups else ())


def _sentence(label: str, trials: Sequence[Shares]) -> str:
    own, _ = mean_sd(trial.of_fair_pct(0) for trial in trials)
    index, _ = mean_sd(jain(trial.rates_mbps) for trial in trials)
    count = len(trials[0].senders)
    return f"{label} gets {number(own, 0)} % of an equal share of {count} downloads (Jain's index {number(index, 2)})."


def _left_out(label: str, trials: Sequence[Shares], whole: Sequence[Shares]) -> str:
    """State how many trials are in no share, and why."""
    count = len(trials) - len(whole)
    why = f"in {count} of {trials_text(len(trials))} one download had ended before another's data came"
    return f"{label}: {why}: no share counts {'it' if count == 1 else 'them'}."


def _rows(trials: Sequence[Shares], entries: Sequence[RivalRecord]) -> tuple[Row, ...]:
    """Return a row of the download under test, and one for each entry of its rivals."""
    rivals = iter(range(1, len(trials[0].senders)))
    index = _mean_sd([jain(trial.rates_mbps) for trial in trials], 2)
    rows = [Row(("under test", "1", *_each(trials, [0]), index, str(len(trials))))]
    for entry in entries:
        places, later = list(islice(rivals, entry["count"])), entry.get("start_s")
        name = f"beside it: {entry['cca']}{f', {later:g} s later' if later else ''}"
        rows.append(Row((name, str(len(places)), *_each(trials, places), number(None, 0), str(len(trials)))))
    return tuple(rows)


def _each(trials: Sequence[Shares], places: Sequence[int]) -> tuple[str, str]:
    rates = [trial.rates_mbps[place] for trial in trials for place in places]
    of_fair = [trial.of_fair_pct(place) for trial in trials for place in places]
    return _mean_sd(rates, 2), _mean_sd(of_fair, 0)


def _mean_sd(values: Sequence[float | None], digits: int) -> str:
    middle, spread = mean_sd(values)
    return mean({"value": middle, "value_sd": spread}, "value", digits)
