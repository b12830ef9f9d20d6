# SPDX-License-Identifier: GPL-2.0-or-later
"""What the page of a comparison shows, in sentences and facts."""

import shlex
from collections.abc import Iterator, Sequence

from lab.base.format import trials_text
from lab.base.stats import CONFIDENCE
from lab.evaluation.measures import BY_NAME
from lab.evaluation.sequential import ALPHA, FIRST_SHARE, Looks
from lab.judge.copies import copied_text
from lab.report.table import Group, Table
from lab.report.table import Row as TableRow
from lab.schema.sysctls import load_sysctls
from lab_compare.comparison import Comparison
from lab_compare.exits import contradicted
from lab_compare.growing import State
from lab_compare.matrix.texts import difference_text
from lab_compare.report.cells import labels
from lab_compare.report.sentences import ONE_TRIAL, listed
from lab_compare.results import LinkResult


def title(comparison: Comparison) -> str:
    """Return the page's title."""
    named = labels(comparison)
    subjects = " and ".join(named[name] for name in comparison.subjects)
    others = [named[name] for name in comparison.senders if name not in comparison.subjects]
    against = f" against {listed(others)}" if others else ""
    count = len(comparison.links)
    return f"{subjects}{against}, on {count} {'link' if count == 1 else 'links'}"


def notes(found: Sequence[LinkResult], state: State) -> Iterator[str]:
    """Yield what a reader must know first: what failed, is invalid, unfinished, or too few to test."""
    if state.reused:
        yield f"{state.reused} trials are of earlier comparisons: of the same sender, link, draw, kernel and modules."
    if state.budget_used:
        yield "The budget was used up before every link had its trials: --resume goes on."
    for each in found:
        if not each.stored:
            yield f"{each.link.title}: no trial has a result."
            continue
        invalid = int((~each.stored.judged.trials["valid"]).sum())
        if invalid:
            are = "trial is" if invalid == 1 else "trials are"
            yield f"{each.link.title}: {invalid} {are} invalid, and in no value: its report states why."
        for cca, trials in each.copied.items():
            yield f"{each.link.title}: {cca}: {copied_text(trials)}. It has no interval, and no test."
        yield from contradicted(each)
        yield from each.stored.judged.faults
    for name, reason in state.failures.items():
        yield f"No result: {name}: {reason}"
    if max((each.trials for each in found), default=0) == 1:
        yield ONE_TRIAL


def pairs_table(comparison: Comparison, found: Sequence[LinkResult]) -> Table:
    """Return one group per link and measure, with one row per pair of senders."""
    named = labels(comparison)
    groups = []
    for each in found:
        for name, tested in each.pairs.items():
            rows = tuple(
                TableRow(
                    (
                        f"{named[pair.first]} less {named[pair.second]}",
                        str(pair.difference.pairs),
                        difference_text(BY_NAME[name], pair, pair.first) or "\N{EN DASH}",
                        f"{pair.level:.2g}",
                        "yes" if pair.separated else "no",
                    )
                )
                for pair in tested
            )
            groups.append(Group(f"{each.link.title}: {BY_NAME[name].title}", rows))
    header = ("Pair", "Trials", "Difference [95 %], effect", "Smallest level", "Separated")
    caption = "Every pair of senders on each link, by every measure"
    return Table("pairs", caption, header, tuple(groups), (), "Link and measure")


def method(comparison: Comparison, plan: Looks, measure: str) -> list[str]:
    """Return how it was measured and tested."""
    every = len(comparison.senders) * (len(comparison.senders) - 1) // 2
    return [
        "Each trial is that of a fresh kernel. Trial n has the same draw of the link for every sender "
        f"(seed {comparison.seed}). {_length(comparison, plan, measure)}",
        "Two senders have separated when an exact group-sequential test of their paired differences rejects that they "
        "are alike: every pattern of signs then has the same chance, however the senders depend on each other on a "
        "draw. Of shares it is McNemar's exact test, of the trials in which they differ. The first look may spend "
        f"{100 * FIRST_SHARE:g} % of the error. Holm's correction is over the pairs of a link and measure (here "
        f"{every}), so that the error of all of them together, over all looks, is at most {100 * ALPHA:g} %. It is per "
        "link and measure: over all cells of this page more than one of 20 may be wrong by chance. A rank is from one "
        "more than the senders that are better and separated to those that are not worse and separated.",
        f"Intervals are paired bootstrap intervals of {100 * CONFIDENCE:g} % for one pair alone, of six trials or "
        "more. The effect is the share of trials in which the first is larger less the share in which it is smaller, "
        "in words (thresholds of Romano and others, 2006). Invalid trials count nowhere.",
        *_other_ends(comparison),
    ]


def _length(comparison: Comparison, plan: Looks, measure: str) -> str:
    """Return how many trials a link has, and why."""
    counts = ", ".join(map(str, plan.trials))
    if comparison.fixed:
        return f"Each sender had {trials_text(plan.trials[-1])} on each link, whatever they gave (--fixed)."
    subjects = listed([labels(comparison)[name] for name in comparison.subjects])
    return (
        f"Looks after {counts} trials of each sender; a link had no further trials once {subjects} had separated from "
        f"every other sender by the measure '{BY_NAME[measure].title}' (on a shared link: by harm), or could not do so "
        "any more whatever the remaining trials gave (tied)."
    )


def _other_ends(comparison: Comparison) -> Iterator[str]:
    """Yield what differs between trials besides the sender: the kernel or receiver, where it needs another."""
    named, usual = labels(comparison), load_sysctls().route["initrwnd"].value
    for name, cca in comparison.senders.items():
        if cca.kernel:
            yield f"{named[name]} runs on a kernel of its own, {cca.kernel}: whose sockets are larger."
        if cca.first_window_pkts:
            yield f"The receiver of {named[name]} begins with {cca.first_window_pkts} packets, and not with {usual}."


def facts(comparison: Comparison, found: Sequence[LinkResult], command: Sequence[str]) -> list[tuple[str, str]]:
    """Return where everything came from."""
    listed = [("command", shlex.join(["lab", *command[1:]])), ("seed", str(comparison.seed))]
    for name, cca in comparison.senders.items():
        module = f", module {cca.module_digest}" if cca.module_digest else ""
        kernel = f", {cca.kernel}" if cca.kernel else ""
        listed.append((f"sender {name}", f"{cca.label}: {cca.algorithm}{module}{kernel}"))
    for each in found:
        if each.stored:
            meta = each.stored.run.meta
            listed.append((f"run of {each.link.name}", str(each.stored.run.path.resolve().name)))
            listed.append((f"kernel of {each.link.name}", f"{meta['kernel']['kernel_source']}, {meta['backend']}"))
    return listed
