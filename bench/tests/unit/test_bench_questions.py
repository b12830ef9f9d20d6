# SPDX-License-Identifier: GPL-2.0-or-later
"""The open questions about SEARCH: every file has its experiment, and its rows are those of the stored trials."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from lab_papers.evaluation.search.replay import Download

from bench.questions.answers import Exit, _left, _of_exits, _separated, _shares
from bench.questions.experiments import places
from bench.questions.schema import Form, Question, names, question
from lab.base.errors import UserError
from lab.judge.ack_stream import ack_stream
from lab.schema.load import parse
from tests.slow_start_model import MSS_BYTES, download
from tests.slow_start_model import Path as ModelPath

TWO = {name: {"sender": "search9"} for name in ("mine", "base")}
ASKED = {"question": "Which?", "asked": "here", "way": "replayed", "links": ["wired"], "base": "base", "forms": TWO}


@pytest.mark.parametrize("name", names())
def test_every_question_has_runs_of_its_own_or_those_of_its_links(name: str) -> None:
    asked = question(name)
    found = list(places(name, asked))
    assert len({place.name for place in found}) == len(found) > 0
    assert all(place.experiment.scenario.trials == asked.trials for place in found)
    points = [value for values in asked.vary.values() for value in values]
    assert len(found) == len(asked.scenarios) + len(asked.links) * max(len(points), 1)


def test_questions_that_replay_share_the_downloads_of_a_link() -> None:
    threshold, window = (
        {place.name: place.experiment for place in places(name, question(name))}
        for name in ("4-threshold", "3-drain-target")
    )
    assert {name: each.name for name, each in threshold.items()} == {name: each.name for name, each in window.items()}
    assert {name: each.scenario for name, each in threshold.items()} == {n: each.scenario for n, each in window.items()}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"base": "third"}, "a question whose base, third, is one of its forms"),
        ({"way": "workload"}, "a question with scenarios where its way is a workload, else with links"),
        ({"vary": {"a": [1.0], "b": [1.0]}}, "a question that varies one field"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(change: dict[str, object], rule: str) -> None:
    with pytest.raises(UserError, match=rule):
        parse(Question, ASKED | change, Path("mine.yml"))


def test_forms_are_compared_on_the_draws_that_both_have_and_separate_by_the_exact_test() -> None:
    asked = parse(Question, ASKED, Path("mine.yml"))
    assert asked.forms["mine"] == Form(sender="search9")
    early, right = Exit("early", 5.0), Exit("chokepoint", 7.0)
    exits = {"mine": dict.fromkeys(range(1, 13), right), "base": dict.fromkeys(range(2, 14), early)}
    mine, base = _separated([_of_exits(asked, "wired", form, exits) for form in ("mine", "base")])
    assert (mine["trials"], mine["chokepoint"], mine["early"], mine["pairs"]) == (12, 12, 0, 11)
    assert (mine["only_form"], mine["only_base"], mine["later_rtts"]) == (11, 0, 2.0)
    assert (mine["separated"], base["separated"], base["level"]) == (True, None, None)
    few = {form: {trial: each for trial, each in of.items() if trial < 7} for form, of in exits.items()}
    assert _separated([_of_exits(asked, "wired", "mine", few)])[0]["separated"] is False  # five pairs prove nothing


@pytest.fixture(scope="module")
def one() -> Download:
    """A modelled download without HyStart over a deep buffer, until it ends."""
    path = ModelPath(rate_mbps=8, base_rtt_ms=200, buffer_bytes=4_000_000, duration_s=6)
    model = download(path)
    acks, stream = model.tables()["acks"], ack_stream(model.tables()["acks"])
    at = (acks["t_s"] * 1e6).round().cast(pl.Int64).search_sorted(stream["t_us"], "right") - 1
    return Download(
        trial=1,
        t_us=stream["t_us"].to_numpy(),
        rtt_us=stream["rtt_us"].to_numpy(),
        delivered_bytes=stream["delivered_bytes"].to_numpy(),
        sent_bytes=acks["snd_nxt_bytes"].gather(at).to_numpy(),
        cwnd_pkts=acks["cwnd_pkts"].gather(at).to_numpy(),
        own=None,
        loss_s=None,
        data_s=None,
        capacity_s={},
        rates=None,
        mss_bytes=MSS_BYTES,
        queue=(model.qdisc(), path.link),
    )


@pytest.mark.parametrize("name", [name for name in names() if question(name).way in ("replayed", "window")])
def test_the_core_takes_every_form_that_is_replayed(one: Download, library: Path, name: str) -> None:
    asked = question(name)
    left = {each: _left(one, form, library) for each, form in asked.forms.items()}
    assert left[asked.base]


def test_a_longer_second_sample_makes_bins_longer_and_the_exit_later(one: Download, library: Path) -> None:
    first, second = (_left(one, Form(sender="search9", second_rtt=later), library) for later in (False, True))
    rtt_us = np.array(one.rtt_us)
    rtt_us[1] = 2 * rtt_us[1]
    stretched = _left(replace(one, rtt_us=rtt_us), Form(sender="search9", second_rtt=True), library)
    assert first
    assert second
    assert stretched
    assert first.t_s == pytest.approx(second.t_s, abs=0.1)  # alike samples: alike bins
    assert stretched.t_s > first.t_s + 0.2


def test_a_targets_share_is_of_the_bytes_that_the_link_carries_in_a_base_rtt(one: Download, library: Path) -> None:
    forms = {
        "kept": Form(sender="search9"),
        "initial": Form(sender="search9", params={"on_exit": 2}),
        "current": Form(sender="search9", current_rtt=True),
    }
    shares, left = _shares(one, forms, library), _left(one, forms["kept"], library)
    assert left
    assert left.cwnd_pkts
    bdp_bytes = 8e6 / 8 * 0.2
    assert shares["kept"] == pytest.approx(left.cwnd_pkts * MSS_BYTES / bdp_bytes, rel=1e-6)
    payload = MSS_BYTES / 1514  # of what the link carries
    assert shares["initial"] == pytest.approx(payload, rel=0.15)  # a full link delivers a BDP in an initial RTT
    assert shares["current"] > 1.5 * shares["initial"]  # the current RTT holds the queue, too
