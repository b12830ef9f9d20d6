# SPDX-License-Identifier: GPL-2.0-or-later
"""The worst trials of a comparison, explained in sentences."""

from types import SimpleNamespace
from typing import Any

import pytest

from lab.evaluation.compare.measures import BY_NAME, PRIMARY
from lab.report.compare import worst
from lab.report.compare.cells import labels
from lab.report.compare.worst import explain, worst_trials
from tests.compared import Compared, store


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    return store(tmp_path_factory.mktemp("results"), 5)


def test_a_worst_trial_is_explained_by_its_exit_its_queue_its_loss_and_what_came_of_it(compared: Compared) -> None:
    comparison, found = compared
    named = labels(comparison)
    (geo,) = (each for each in worst_trials(found, ["cubic_plain"], PRIMARY) if each.found.link.name == "geo")
    shown = explain(geo, named, "report.html")
    assert shown is not None
    own, best, cost = shown.sentences
    assert geo.found.stored
    rows = geo.found.stored.judged.outcomes.filter(trial=geo.trial, heuristic="truth")
    for cca, sentence, kind in (("cubic_plain", own, "late"), (geo.best, best, "at the chokepoint")):
        (row,) = rows.filter(cca=cca).to_dicts()
        assert sentence.startswith(
            f"{named[cca]} left slow start at {row['exit_s']:.2f} s (cause: {row['exit_cause']})"
        )
        assert f"after the queue stayed filled ({row['capacity_s']:.2f} s): {kind}; " in sentence
    (late,) = rows.filter(cca="cubic_plain").to_dicts()
    assert own.endswith(f"; the first loss came at {late['loss_s']:.2f} s.")
    assert "throughput" in cost
    assert " against " in cost
    assert (shown.page, shown.title) == ("report.html", f"GEO, modelled: {named['cubic_plain']}, trial {geo.trial}, "
                                         f"next to {named[geo.best]}")  # fmt: skip


def test_a_sender_that_left_before_the_queue_filled_and_lost_nothing_is_explained(compared: Compared) -> None:
    comparison, found = compared
    (geo,) = (each for each in worst_trials(found, ["cubic"], PRIMARY) if each.found.link.name == "geo")
    shown = explain(geo, labels(comparison), "")
    assert shown is not None
    assert shown.sentences[0].endswith("; the queue never stayed filled: early; nothing was lost.")


@pytest.mark.parametrize(
    ("own", "other", "behind"), [(0.0, 0.0, 0.0), (1.0, 4.0, 0.75), (4.0, 1.0, -0.75), (0.0, 2.0, 1.0)]
)
def test_how_far_a_sender_is_behind_is_a_share_of_the_larger_value(own: float, other: float, behind: float) -> None:
    found: Any = SimpleNamespace(values={"throughput": {"a": [own], "b": [other]}})
    assert worst._behind(found, BY_NAME["throughput"], "a", "b", 0) == behind
