# SPDX-License-Identifier: GPL-2.0-or-later
"""Assignments 2 and 5: a link that is handed in is held to what the handout states, in one line."""

from pathlib import Path
from typing import Any, cast

import pytest
from lab_course.assignment import find_assignment, sibling
from lab_course.bench import Bench
from lab_course.submission import Submission
from lab_course.work import Work

from lab.backends.virtual import Virtual
from lab.base.errors import UserError

SECOND, FIFTH = find_assignment("2"), find_assignment("5")
hypotheses = sibling(str(SECOND.folder / "checks.py"), "hypotheses")
bounds, wrongness = (sibling(str(FIFTH.folder / "checks.py"), name) for name in ("bounds", "wrongness"))
GIVEN = (SECOND.folder / "links" / "geo.yml").read_text()
START = (FIFTH.folder / "start" / "break.yml").read_text()
NO_BENCH = Bench(cast(Virtual, None), Path("none"))  # no check here runs a trial


def work(assignment: Any, file: str, *changes: tuple[str, str]) -> Work:
    """Hand in a link: the given one with changes."""
    text = GIVEN if assignment is SECOND else START
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return Work(assignment, Submission(Path("in"), "s1", {file: text.encode()}), NO_BENCH, "public")


def change(*changes: tuple[str, str]) -> Any:
    return hypotheses.change(work(SECOND, "mine.yml", *changes), "mine.yml")


def require(*changes: tuple[str, str]) -> None:
    bounds.require(work(FIFTH, bounds.FILE, *changes).own_link(bounds.FILE))


MORE = ("guaranteed_pkts: 1\n", "guaranteed_pkts: 10\n")


def test_one_change_is_found_by_its_name_with_both_values() -> None:
    assert str(change(MORE)) == "up.on_demand.guaranteed_pkts 1 -> 10"


def test_texts_of_a_link_may_be_written_anew() -> None:
    assert change(MORE, ("title: a GEO", "title: my GEO")).field == "up.on_demand.guaranteed_pkts"


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ((), "changed fields=none: must be one"),
        ((MORE, ("frame_ms: 40", "frame_ms: 20")), "up.on_demand.frame_ms, up.on_demand.guaranteed_pkts: must be one"),
        ((("frame_ms: 40", "frame_ms: 4"),), "up.on_demand.frame_ms=4.0: must be 5 to 100"),
        ((("report: rate", "report: new"), ("    period_ms: 1200\n", "")), "must be one"),
        ((("  start_phase_ms: 1200", "  start_phase_ms: 0"),), "noise.start_phase_ms: must stay as given"),
    ],
)
def test_anything_but_one_change_within_its_bounds_is_refused(changes: tuple[tuple[str, str], ...], line: str) -> None:
    with pytest.raises(UserError, match=f"^mine.yml: .*{line}"):
        change(*changes)


@pytest.mark.parametrize(
    ("changed", "hypothesis", "predicted"),
    [
        (MORE, "ack_rate", "later"),
        (MORE, "bunches", "earlier"),
        (MORE, "request_delay", None),
        (("request_delay_ms: 560", "request_delay_ms: 100"), "request_delay", "later"),
        (("request_delay_ms: 560", "request_delay_ms: 900"), "request_delay", "earlier"),
        (("rate_mbps: 50", "rate_mbps: 100"), "forward_queue", "later"),
    ],
)
def test_a_hypothesis_predicts_from_the_direction_of_a_change(
    changed: tuple[str, str], hypothesis: str, predicted: str | None
) -> None:
    assert change(changed).prediction(hypothesis) == predicted


def test_the_given_link_is_within_the_bounds() -> None:
    require()


def test_a_delay_may_have_a_schedule_or_a_cycle_within_the_bounds() -> None:
    require(("up:\n  delay_ms: 20", "up:\n  delay_ms: {model: cycle, mean: 60, amplitude: 40, period_s: 1, source: s}"))
    steps = "{model: schedule, steps: [{from_s: 0, value: 20}, {from_s: 1, value: 150}], source: s}"
    require(("up:\n  delay_ms: 20", f"up:\n  delay_ms: {steps}"))


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        (("rate_mbps: 50", "rate_mbps: 101"), "down.rate_mbps=101.0: must be 5 to 100"),
        (("buffer_bdps: 4", "buffer_bytes: 400000"), "down.buffer_bytes: must be left out"),
        (("buffer_bdps: 4", "buffer_bdps: 1"), "down.buffer_bdps=1.0: must be 2 to 8"),
        (("buffer_bdps: 4", "buffer_bdps: 4\n  loss_pct: 1"), "down.loss_pct: must be left out"),
        (("buffer_bdps: 4", "buffer_bdps: 4\n  queue: {kind: codel}"), "down.queue: must be left out"),
        (("recorded: []", "noise: {start_phase_ms: 9}\nrecorded: []"), "noise: must be left out"),
        (
            ("up:\n  delay_ms: 20", "up:\n  delay_ms: {model: cycle, mean: 60, amplitude: 59, period_s: 1, source: s}"),
            "up.delay_ms=1.0: must be 5 to 150",
        ),
        (("up:\n  delay_ms: 20", "up:\n  delay_ms: {model: uniform, least: 5, most: 9, source: s}"), "up.delay_ms="),
    ],
)
def test_what_breaks_every_sender_or_a_bound_is_refused(changed: tuple[str, str], line: str) -> None:
    with pytest.raises(UserError, match=f"^break.yml: {line}"):
        require(changed)


def delay(model: str, *rest: str) -> tuple[str, str]:
    """Return the change that gives the way up a delay of a model."""
    fields = ", ".join((f"model: {model}", "source: assumed", *rest))
    return "delay_ms: 20\nrecorded", f"delay_ms: {{{fields}}}\nrecorded"


def steps(*values: int, every_s: float = 1) -> str:
    rows = (f"{{from_s: {number * every_s}, value: {value}}}" for number, value in enumerate(values))
    return f"steps: [{', '.join(rows)}]"


@pytest.mark.parametrize(
    ("mechanism", "change", "has_it"),
    [
        ("round_trip_grows", delay("schedule", steps(20, 60)), True),
        ("round_trip_grows", delay("schedule", steps(60, 20)), False),
        ("round_trip_grows", delay("schedule", steps(20, 20)), False),
        ("round_trip_grows", delay("schedule", steps(20, 60, every_s=4)), False),
        ("round_trip_grows", delay("schedule", steps(60, 20), "period_s: 2"), True),
        ("round_trip_grows", delay("schedule", steps(60, 20), "period_s: 4"), False),
        ("round_trip_grows", delay("cycle", "mean: 20", "amplitude: 0", "period_s: 1"), False),
        ("round_trip_grows", delay("cycle", "mean: 20", "amplitude: 9", "period_s: 1"), True),
        ("acks_in_aggregates", ("\nrecorded", "\n  frames: {period_ms: 80}\nrecorded"), True),
        ("acks_in_aggregates", ("\nrecorded", "\n  frames: {period_ms: 0.01}\nrecorded"), False),
        ("acks_in_aggregates", ("\nrecorded", "\n  frames: {period_ms: 80, packets: 1}\nrecorded"), False),
        ("shallow_buffer", ("buffer_bdps: 4", "buffer_bdps: 3"), True),
        ("shallow_buffer", ("buffer_bdps: 4", "buffer_bdps: 3.1"), False),
    ],
)
def test_a_mechanism_counts_where_the_link_has_it_within_the_download(
    mechanism: str, change: tuple[str, str], has_it: bool
) -> None:
    link = work(FIFTH, bounds.FILE, change).own_link(bounds.FILE)
    bounds.require(link)
    checks = sibling(str(FIFTH.folder / "checks.py"), "checks")
    assert checks.MECHANISMS[mechanism](link) is has_it


def test_the_easy_link_is_the_given_one_with_the_deepest_buffer_of_the_bounds() -> None:
    easy = work(FIFTH, bounds.FILE).link("easy")
    given = work(FIFTH, bounds.FILE, ("buffer_bdps: 4", f"buffer_bdps: {bounds.BUFFER_BDPS[1]}")).own_link(bounds.FILE)
    assert (easy.down, easy.up) == (given.down, given.up)


def easy(part: str, student: str = "s1", key: bytes = 32 * b"k", *changes: tuple[str, str]) -> list[Any]:
    """Return rate, round trip and buffer of each link on which a fellow's rule must be right."""
    own = work(FIFTH, bounds.FILE, *changes)
    graded = Work(FIFTH, Submission(Path("in"), student, own.submission.files), NO_BENCH, part, key)
    links = wrongness._easy_links(graded, own.own_link(bounds.FILE))
    return [(each.down.rate_mbps, each.down.delay_ms + each.up.delay_ms, each.down.buffer_bdps) for each in links]


def test_a_rule_must_also_be_right_on_the_students_link_without_what_varies_and_on_one_drawn_by_the_key() -> None:
    grows = ("up:\n  delay_ms: 20", "up:\n  delay_ms: {model: cycle, mean: 60, amplitude: 40, period_s: 1, source: x}")
    assert [round(rtt_ms / 20) * 20 for _, rtt_ms, _ in easy("public", "s1", b"", grows)] == [40, 40, 120]
    public, hidden = easy("public"), easy("hidden")
    assert [buffer for _, _, buffer in hidden] == [8, 32, 32]
    assert len(public) == 2
    drawn = [easy("hidden")[-1], easy("hidden", "s2")[-1], easy("hidden", "s1", 32 * b"m")[-1]]
    assert len(set(drawn)) == 3
    assert all(5 <= rate_mbps <= 100 and 20 <= rtt_ms <= 200 for rate_mbps, rtt_ms, _ in drawn)
