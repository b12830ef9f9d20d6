# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures over a stored trial, and verdicts as JSON and JUnit."""

from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import fromstring

import numpy as np
import polars as pl
import pytest
from lab_conform.case import Case, Check, chosen
from lab_conform.command import Request, junit, run
from lab_conform.events import Event, Link, When
from lab_conform.measures import MEASURES
from lab_conform.place import NeverComes, place, reached_s, same_before
from lab_conform.verdict import Checked, Verdict, judged
from lab_conform.view import Unmeasured, View
from rich.console import Console

from bench.conform_mutants import noticed
from lab.base.paths import REPO
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from tests.brief import error_of


@pytest.fixture(scope="module")
def trial() -> Trial:
    (folder,) = (REPO / "analysis/sample/sample").glob("20*")
    return next(each for each in Run(folder).trials if each.cca == "cubic")


@pytest.fixture(scope="module")
def view(trial: Trial) -> View:
    link = Link(rate_mbps=trial.meta["rate_mbps"], rtt_ms=trial.meta["base_rtt_ms"])
    return View(link, int(trial.meta["duration_s"]), trial)


def test_the_first_flight_of_linux_is_ten_segments(view: View) -> None:
    assert MEASURES["first_flight_pkts"](view) == MEASURES["initial_window_pkts"](view) == 10


def test_a_state_is_reached_at_the_ack_that_leads_to_it(view: View) -> None:
    t_s = reached_s(When(cwnd_pkts=11), view, 0.0)
    row = view.after(t_s)
    assert view.cwnd_pkts[row] == 10
    assert view.cwnd_pkts[row + 1] == 11
    at_event = View(view.link, view.duration_s, view.trial, (t_s,))
    assert [MEASURES["window_pkts"](at_event, event=0, plus_rtts=rtts) for rtts in (0.0, 0.99)] == [10, 20]


def test_the_packet_to_lose_is_the_first_that_is_sent_then(view: View) -> None:
    event = Event.model_validate({"when": {"cwnd_pkts": 20}, "drop": [0]})
    (placed,) = place([event], view)
    (span,) = placed.spans
    row = view.after(reached_s(event.when or When(cwnd_pkts=20), view, 0.0))
    assert placed.dropped[0] == view.nxt_bytes[row]
    assert 0 < (span.end_s or 0) - span.begin_s < 0.002


def test_the_packet_to_lose_behind_a_repeat_is_the_one_that_is_sent_again(view: View) -> None:
    again = View(view.link, view.duration_s, Trial(view.trial.path))
    data = view.data
    seq, late_s = int(data.seq_bytes[40]), float(data.t_s[60:62].mean())
    moved = pl.when(pl.col("to_client") & (pl.col("seq_bytes") == seq)).then(late_s).otherwise(pl.col("t_s"))
    again.trial.packets = view.trial.packets.with_columns(t_s=moved).sort("t_s")
    vars(again)["repeats_s"] = np.array([late_s - view.rtt_s])
    (placed,) = place([Event.model_validate({"when": {"retransmit": True}, "drop": [0]})], again)
    assert placed.dropped == (seq,)


class Slowed(Trial):
    """A trial whose way down is slower from some time on: what comes to the line then comes so much later."""

    FROM_S, BY_S = 0.3, 0.02

    def table(self, name: str) -> pl.DataFrame:
        found = super().table(name)
        (base_ms,) = super().table("link").filter(pl.col("quantity") == "down.delay_ms")["value"].unique()
        if name == "link":
            return found.extend(
                found[:1].with_columns(
                    quantity=pl.lit("down.delay_ms"), t_s=self.FROM_S, value=base_ms + self.BY_S * 1e3
                )
            )
        if name == "packets":
            slowed = pl.col("to_client") & (pl.col("t_s") - base_ms / 1e3 >= self.FROM_S)
            return found.with_columns(t_s=pl.col("t_s") + slowed.cast(pl.Float64) * self.BY_S)
        return found


def test_a_packet_is_lost_where_it_passes_a_line_whose_delay_has_changed(view: View) -> None:
    event = Event.model_validate({"when": {"cwnd_pkts": 60}, "drop": [0]})
    (usual,), (slowed,) = place([event], view), place([event], replace(view, trial=Slowed(view.trial.path)))
    assert usual.at_s > Slowed.FROM_S
    assert slowed.dropped == usual.dropped
    assert slowed.at_s == pytest.approx(usual.at_s, abs=1e-9)


def test_a_segment_that_came_though_an_event_loses_it_is_noticed(view: View) -> None:
    (placed,) = place([Event.model_validate({"when": {"cwnd_pkts": 20}, "drop": [0]})], view)
    without = View(view.link, view.duration_s, Trial(view.trial.path))
    without.trial.packets = view.trial.packets.filter(pl.col("seq_bytes") != placed.dropped[0])
    assert (placed.spared(view), placed.spared(without)) == (True, False)
    bare = pl.col("len_bytes") * (pl.col("seq_bytes") != placed.dropped[0]).cast(pl.UInt32)
    without.trial.packets = view.trial.packets.with_columns(len_bytes=bare)
    assert not placed.spared(without), "an ACK without data has the number of what is sent next"


def test_a_second_timeout_of_the_same_segment_is_no_reduction(view: View) -> None:
    silent_s = float(view.t_s[100]) + 1e-6
    twice = [(0.0, "open"), (silent_s, "loss"), (silent_s + 1e-7, "loss"), (float(view.t_s[300]), "loss")]
    changed = View(view.link, view.duration_s, view.trial)
    vars(changed)["states"] = twice
    assert changed.reductions_s == [silent_s, view.t_s[300]]
    assert MEASURES["reductions"](changed) == 2


@pytest.mark.parametrize(("wait_s", "next_s", "timer_ms"), [(0.34, 0.48, 240), (0.24, 0.48, 240), (1.0, 2.0, 1000)])
def test_a_probe_of_the_tail_is_no_part_of_the_timer(view: View, wait_s: float, next_s: float, timer_ms: float) -> None:
    lost_s = float(view.t_s[-1]) + wait_s
    silent = replace(view)
    vars(silent).update(states=[(lost_s, "loss")], repeats_s=np.array([lost_s, lost_s + next_s]))
    assert MEASURES["first_timeout_ms"](silent) == pytest.approx(timer_ms)


@pytest.mark.parametrize(("exit_s", "rounds"), [(2.0, 0), (3.0, 1), (4.0, 2), (5.0, 3)])
def test_a_plateau_has_the_rounds_without_a_quarter_more(view: View, exit_s: float, rounds: int) -> None:
    """Rounds of a second deliver 10, 20, 40 and then 45 bytes."""
    changed, una_bytes = replace(view), np.cumsum([2, 10, 20, 40, 45, 45, 45, 45, 45])
    vars(changed).update(t_s=np.arange(9.0), una_bytes=una_bytes, nxt_bytes=np.append(una_bytes[1:], 400))
    vars(changed).update(exit={"t_s": exit_s})
    assert MEASURES["plateau_rounds"](changed) == rounds


@pytest.mark.parametrize("exit_s", [5.8, 6.1, 6.4])
def test_a_plateau_is_counted_from_the_round_that_ends_slow_start(view: View, exit_s: float) -> None:
    """Ten ACKs a second, each a round trip of a second long; the rate is the link's from 3 s on."""
    changed, una_bytes = replace(view), np.cumsum(np.repeat([10, 20, 40, 45, 45, 45, 45, 45, 45], 10)) * 100
    vars(changed).update(t_s=np.arange(90) / 10, una_bytes=una_bytes, nxt_bytes=np.append(una_bytes[10:], [10**6] * 10))
    vars(changed).update(exit={"t_s": exit_s})
    assert MEASURES["plateau_rounds"](changed) == 3


def test_a_round_of_a_sender_that_paces_is_a_whole_window(view: View) -> None:
    """At its begin half of the window is in flight; each packet that is acknowledged adds one."""
    changed, acked_pkts = replace(view, events_s=(0.0,)), np.arange(80)
    nxt_pkts = acked_pkts + (10 + acked_pkts) // 2
    vars(changed).update(una_bytes=acked_pkts * view.mss_bytes, nxt_bytes=nxt_pkts * view.mss_bytes)
    vars(changed).update(t_s=acked_pkts / 10, cwnd_pkts=10.0 + acked_pkts)
    assert [MEASURES["round_growth"](changed, round=number, event=0) for number in range(3)] == [2, 2, 2]


def test_a_round_that_ends_with_an_ack_of_more_than_it_has_grown_no_faster(view: View) -> None:
    """As of a receiver that acknowledges four packets at once: the window grows by one for each."""
    changed, acked_pkts = replace(view, events_s=(0.0,)), 4 * np.arange(40)
    vars(changed).update(una_bytes=acked_pkts * view.mss_bytes, nxt_bytes=(acked_pkts + 10) * view.mss_bytes)
    vars(changed).update(t_s=acked_pkts / 10, cwnd_pkts=10.0 + acked_pkts)
    assert [MEASURES["round_growth"](changed, round=number, event=0) for number in range(3)] == [2, 2, 2]


def test_a_threshold_that_is_lowered_again_is_less_than_the_first_one(view: View) -> None:
    changed, t_s = replace(view), np.arange(6.0)
    vars(changed).update(t_s=t_s, states=[(1.5, "recovery")], ssthresh_pkts=np.array([np.inf, np.inf, 40, 40, 20, 30]))
    vars(changed).update(una_bytes=np.arange(6))
    assert MEASURES["threshold_lowered_again"](changed) == 0.5


def test_what_a_recovery_sends_is_new_segments_and_repeats(view: View) -> None:
    changed, t_s, mss = replace(view), np.arange(6.0), view.mss_bytes
    vars(changed).update(t_s=t_s, states=[(1.5, "recovery"), (4.5, "open")], repeats_s=np.array([1.5, 2, 5]))
    vars(changed).update(
        una_bytes=mss * np.array([0, 10, 10, 10, 10, 60]), nxt_bytes=mss * np.array([20, 50, 51, 60, 70, 80])
    )
    assert MEASURES["sent_in_recovery_over_half_pkts"](changed) == 30 + 2 - 20


def test_growth_behind_a_pause_counts_from_its_end(view: View) -> None:
    changed, rtt_s = replace(view), view.rtt_s
    vars(changed).update(t_s=np.array([0, 1, 9, 9 + rtt_s, 9 + 2 * rtt_s]), cwnd_pkts=np.array([5.0, 8, 10, 12, 14]))
    assert MEASURES["growth_after_pause_pkts"](changed, pause_s=4, rtts=2) == 4
    with pytest.raises(Unmeasured, match="never paused for 9 s"):
        MEASURES["growth_after_pause_pkts"](changed, pause_s=9, rtts=2)


@pytest.mark.parametrize(
    ("before_bytes", "error"),
    [(50, 0), (100, 0), (80, 18.75)],
    ids=["twice what was delivered", "what was sent", "neither"],
)
def test_a_difference_is_held_against_what_its_version_expects(view: View, before_bytes: int, error: float) -> None:
    changed = View(view.link, view.duration_s, Trial(view.trial.path))
    counts = {"curr_delv_bytes": [75], "prev_delv_bytes": [before_bytes]}
    changed.trial.bins = pl.DataFrame({"flow": [1], "norm_pct": [25.0], **counts})
    assert MEASURES["norm_error_points"](changed) == pytest.approx(error)


def test_only_a_check_that_fails_notices_a_mutant(view: View) -> None:
    (case,) = chosen(None, "rfc5681-6928/initial-window")
    passed = judged(case, "cubic", view)
    failed = replace(passed, outcome="failed", checked=(Checked(case.checks[0], 11.0, passed=False),))
    without = of(case, "failed", "the lab has no result")
    found = [noticed(*each) for each in ((passed, failed), (passed, passed), (passed, without), (failed, failed))]
    assert found == [True, False, False, False]


def test_packets_of_the_first_flight_count_from_its_first(view: View) -> None:
    (placed,) = place([Event.model_validate({"when": {"packet": "data"}, "drop": [3]})], view)
    assert placed.dropped == (1 + 3 * view.mss_bytes,)


@pytest.mark.parametrize("delay_ms", [5, 5000])
def test_a_shorter_delay_shows_sooner_than_half_a_round_trip(view: View, delay_ms: float) -> None:
    (placed,) = place([Event.model_validate({"at_s": 1, "delay_ms": delay_ms})], view)
    assert placed.shows_s(view) == pytest.approx(1 + min(delay_ms / 1e3, view.rtt_s / 2))


@pytest.mark.parametrize("when", [When(cwnd_pkts=1e6), When(acked_pkts=1e9), When(state="cwr")])
def test_a_state_that_never_comes_is_reported(view: View, when: When) -> None:
    with pytest.raises(NeverComes, match=when.text.split("=")[0]):
        reached_s(when, view, 0.0)


def test_a_trial_is_the_same_as_itself(view: View) -> None:
    assert same_before(view, view, 3.0)


def test_a_measure_of_what_a_trial_lacks_fails_with_its_reason(view: View) -> None:
    with pytest.raises(Unmeasured, match="no bins"):
        MEASURES["bin_over_rtt"](view)
    (case,) = chosen(None, "search/bin-length")
    verdict = judged(case, "cubic", view)
    assert verdict.outcome == "failed"
    assert "the sender has no bins" in verdict.reason


def of(case: Case, outcome: str, reason: str = "") -> Verdict:
    return Verdict(case, "cubic", outcome, reason)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "outcome"), [(None, "every check"), ("module", "slow_start_left=0.60 s: must be an exit")]
)
def test_an_exit_that_the_packets_contradict_passes_no_case_about_exits(
    view: View, code: str | None, outcome: str
) -> None:
    (case,) = chosen(None, "search/window-kept")
    shapes = [{"part": "bottleneck", "spec": {"kind": "bfifo"}}, {"part": "delay-up", "spec": {"delay_us": 100_000}}]
    changed = replace(view, trial=Trial(view.trial.path))
    changed.trial.meta, changed.trial.own_code = {**view.trial.meta, "applied": shapes}, code  # type: ignore[typeddict-item, assignment]
    changed.trial.exits = view.trial.exits.with_columns(t_s=pl.lit(0.6), ssthresh_pkts="cwnd_pkts")
    assert judged(case, "mine", changed).reason.startswith(outcome)


def test_a_measure_without_a_value_fails_its_check_and_says_so(view: View) -> None:
    check = {"measure": "goodput_share", "with": {"from_s": 1, "until_s": 1}, "least": 0, "because": "none"}
    (case,) = chosen(None, "rfc9743/uses-the-link")
    found = judged(case.model_copy(update={"checks": [Check.model_validate(check)]}), "cubic", view)
    assert "goodput_share(from_s=1, until_s=1): no value with these parameters (float division by zero)" in found.reason


def test_a_queue_takes_ten_times_as_long_at_a_tenth_of_the_rate(view: View) -> None:
    slow_ms = MEASURES["queue_ms"](view, of_mbps=view.link.rate_mbps / 10)
    assert slow_ms == pytest.approx(10 * float(MEASURES["queue_ms"](view)))


def test_junit_has_a_test_per_case_and_the_same_bytes() -> None:
    cases = chosen("rfc9438", None)[:3]
    found = [of(cases[0], "passed"), of(cases[1], "failed", "why <&"), of(cases[2], "not applicable", "no window")]
    text = junit(found)
    (suite,) = fromstring(text.split("\n", 1)[1])  # noqa: S314 (our own)
    assert suite.attrib == {"name": "rfc9438", "tests": "3", "failures": "1", "skipped": "1", "errors": "0"}
    assert suite[1][0].attrib["message"] == "why <&"
    assert text == junit(found)


def test_a_record_names_the_rule_and_each_check(view: View) -> None:
    (case,) = chosen(None, "rfc5681-6928/initial-window")
    record = judged(case, "cubic", view).record
    assert record["verdict"] == "passed"
    assert record["source"]["document"] == "rfc6928"
    assert record["checks"] == [
        {"measure": "first_flight_pkts", "with": {}, "value": 10.0, "passed": True, "most": 10.0}
    ]


def test_a_known_sender_is_no_folder_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("cubic", "mine"):
        (tmp_path / name).mkdir()
    assert Request("cubic,mine,reno,./cubic,a.c").own == ["mine", "./cubic", "a.c"]


@pytest.mark.parametrize(
    ("name", "rule"), [("nosuch/x.json", "in a folder that can be written"), (".", "a plain file")]
)
def test_a_file_that_cannot_be_written_is_refused_before_any_trial(tmp_path: Path, name: str, rule: str) -> None:
    request = Request("cubic", json=tmp_path / name)
    assert f"json={request.json}: must be {rule}" in error_of(run, request, Console())
