# SPDX-License-Identifier: GPL-2.0-or-later
"""Inferred links are profiles of the lab; what rests on unknown spans is refused by name."""

import io
import json
import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from lab_whatif.counterfactual import Case, Range
from lab_whatif.infer import Inferred
from lab_whatif.judged import judged
from lab_whatif.link import CODEL_BYTES, UNDER_CODEL, VARIANTS, Variant, profile, rates, written
from lab_whatif.measures import measured
from lab_whatif.page import picture, write_page
from lab_whatif.path import Down
from lab_whatif.queue import Buffer, buffer_of
from lab_whatif.replay import Emulated
from lab_whatif.shown import sentences, show_tables
from lab_whatif.verdict import compare, fits, together
from rich.console import Console
from typer.testing import CliRunner
from whatif_captures import Download, Known
from whatif_captures import written as capture

from lab.commands.clean import tidy
from lab.commands.cli import app
from lab.links.draw import draw_link
from lab.links.profile import read_profile
from lab.node.traffic.series_begin import AHEAD_NS
from tests.brief import folder_at


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Inferred:
    known = Known()
    file = capture(tmp_path_factory.mktemp("capture") / "x.pcap", Download(known).client, known)
    return judged(file, None, [])[1]


@pytest.mark.parametrize("variant", [*VARIANTS, *UNDER_CODEL], ids=lambda each: each.name)
def test_each_link_is_a_profile_of_the_lab(tmp_path: Path, found: Inferred, variant: Variant) -> None:
    content = profile(found, variant, 0.2)
    drawn = draw_link(read_profile(written(tmp_path / "link.yml", content)), 5, np.random.default_rng(1))
    assert drawn.base_rtt_ms == pytest.approx(50, abs=1.5)
    assert drawn.mean_rate_mbps == pytest.approx(20, rel=0.05)
    assert drawn.buffer_bytes == pytest.approx(CODEL_BYTES if variant.is_codel else 150_000, rel=0.05)


def test_a_link_is_a_profile_where_a_step_begins_a_hair_after_its_begin(tmp_path: Path, found: Inferred) -> None:
    first_s = found.path.base_rtt_ms / 2e3 - AHEAD_NS / 1e9  # the arrival of the bulk that a step begins with, at 0
    for step in range(1, 60):
        content = profile(found, VARIANTS[0], first_s + step * found.step_s - 2e-5)
        read_profile(written(tmp_path / f"link{step}.yml", content))


def test_a_fill_is_never_below_what_passed(found: Inferred) -> None:
    for variant in VARIANTS:
        table = found.capacity_in(found.step_s)
        filled = rates(found, variant, found.step_s)
        unknown = np.isnan(table["replayed_mbps"].to_numpy())
        assert (filled[unknown] >= table["at_least_mbps"].to_numpy()[unknown]).all()


def emulated(found: Inferred, **changes: object) -> Emulated:
    numbers = replace(measured(found), **changes)  # type: ignore[arg-type]
    return Emulated(numbers, numbers.exit_s, found.buffer.most_queued_bytes)


def test_a_replay_that_does_the_same_fits_and_one_that_is_slower_does_not(found: Inferred) -> None:
    recorded = measured(found)
    assert fits(compare(recorded, emulated(found)))
    slower = emulated(found, mark_s={1: recorded.mark_s[1], 5: (recorded.mark_s[5] or 0) * 1.1, 20: None})
    assert not fits(compare(recorded, slower))


def test_losses_that_only_one_of_both_has_are_said_to_be_that(found: Inferred) -> None:
    clean = replace(measured(found), losses=0)
    lost = next(each for each in compare(clean, emulated(found, losses=37)) if each.quantity == "lost")
    assert (lost.answer, lost.error_pct, lost.reason) == ("DOES NOT FIT", None, "only one of both has some")


def test_round_trips_that_are_wrong_in_some_steps_are_said_to_be_and_what_is_unknown_is_named(found: Inferred) -> None:
    recorded = measured(found)
    some = np.where(np.arange(len(recorded.rtt_ms)) % 5 == 0, 1.5, 1.0)
    compared = compare(recorded, emulated(found, rtt_ms=recorded.rtt_ms * some, mark_s={1: None, 5: None, 20: None}))
    compared = together([compared, compare(recorded, emulated(found, rtt_ms=recorded.rtt_ms * some))])
    (line,) = sentences("cubic", [], compared, [], None)
    assert "differs: RTT error of steps: median 0.0 %, 90th percentile 50.0 %. Of others: nothing." in line
    shown = io.StringIO()
    show_tables(compared, [], Console(file=shown, width=80))
    assert [text for text in shown.getvalue().splitlines() if ":" in text] == [
        "1 MB, 5 MB: the answer differs between the links",
        "20 MB: neither has it",
    ]


def test_what_was_recorded_and_what_was_replayed_differ_without_colours_too(found: Inferred) -> None:
    drawn = picture(found, measured(found), {"cubic, replayed": [measured(found)]})
    assert drawn.count("stroke-dasharray") == 3  # in both panels and the key


def test_the_page_names_its_question_escapes_a_files_name_and_has_the_style_of_the_labs_pages(
    tmp_path: Path, found: Inferred
) -> None:
    recorded = measured(found)
    compared, refused = compare(recorded, emulated(found)), Range("bbr", "5 MB", "s", 1.0, None, None, "why")
    for ranges, question in (([], "the original, replayed on its link"), ([refused], "what other senders would have")):
        named = replace(found, name="<b>.pcap")
        write_page(tmp_path, ["A sentence."], named, recorded, {"cubic": [recorded]}, compared, ranges, ["assumed"])
        page = (tmp_path / "whatif.html").read_text()
        assert f"<h1>&lt;b&gt;.pcap: {question}" in page
        assert ("<td>why</td>" in page, "<b>" in page) == (bool(ranges), False)
        assert page.count("prefers-color-scheme: dark") > 1
        assert '<div class="plate"' in page


def reasons(found: Inferred, other: Emulated) -> dict[str, str]:
    recorded, original = measured(found), emulated(found)
    case = Case("bbr", found, recorded, [original], [other], [compare(recorded, original)])
    return {each.quantity: each.reason for each in case.ranges() if each.low is None}


def test_losses_above_the_recorded_queue_are_refused(found: Inferred) -> None:
    other = replace(emulated(found), most_queued_bytes=2 * found.buffer.most_queued_bytes)
    assert "above the largest recorded one" in reasons(found, other)["lost"]
    assert "5 MB" not in reasons(found, other)


def test_bytes_where_the_capacity_is_not_known_are_refused(found: Inferred) -> None:
    nowhere = replace(found, capacity=found.capacity.with_columns(known=found.capacity["known"] & False))
    recorded = measured(found)
    more = emulated(found, arrived_bytes=recorded.arrived_bytes * 1.5)
    assert "where the capacity is only known to carry" in reasons(nowhere, more)["5 MB"]


def test_a_time_is_longer_by_what_may_not_have_passed(found: Inferred) -> None:
    """Where the capacity is known nowhere, 4 % more bytes than recorded may be as much too many."""
    nowhere = replace(found, capacity=found.capacity.with_columns(known=found.capacity["known"] & False))
    recorded = measured(found)
    case = [emulated(found), emulated(found, arrived_bytes=recorded.arrived_bytes * 1.04)]
    highs = [
        Case("bbr", nowhere, recorded, [case[0]], [each], [compare(recorded, case[0])]).ranges()[1].high
        for each in case
    ]
    assert highs[0] is not None
    assert highs[1] is not None
    assert highs[1] - highs[0] == pytest.approx(0.04 * 5e6 * 8 / 20e6, rel=0.1)


def test_a_time_is_refused_where_the_original_was_wrong_before(found: Inferred) -> None:
    recorded = measured(found)
    early = emulated(found, mark_s={**recorded.mark_s, 1: (recorded.mark_s[1] or 0) * 0.9})
    case = Case("bbr", found, recorded, [early], [emulated(found)], [compare(recorded, early)])
    refused = {each.quantity: each.reason for each in case.ranges() if each.low is None}
    assert refused["5 MB"].startswith("the original's own 1 MB is replayed -10.0 %")


def test_an_exit_within_the_captures_noise_is_refused(found: Inferred) -> None:
    noisy = replace(found, jitter_ms=5.0)
    assert "below three times the capture's noise" in reasons(noisy, emulated(found))["exit"]


def grown_and_emptied(count: int, lost: Sequence[int] | npt.NDArray[np.int64], least_s: float) -> Buffer:
    """Return what the losses of a queue show that grows to 0.1 s with every 500 packets."""
    numbers = np.delete(np.arange(count), lost)
    waits_s = (least_s + (0.1 - least_s) * (numbers % 500) / 500).astype(np.float64)
    seq, sizes = 1 + 1448 * numbers, np.full(len(numbers), 1514)
    return buffer_of(Down((numbers * 1e-3).astype(np.float64), waits_s, seq, seq + 1448, sizes), 0.05, 1, 1514, 0)


ABOVE = tuple(number for number in range(260, 2000, 10) if number % 500 > 250)  # half of the largest queue


@pytest.mark.parametrize(
    ("lost", "kind", "pkts"),
    [
        ((490, 980, 985, 990), "tail", 100),
        ((490, 650, 750, 800), "at least", 100),
        ((465, 930, 1410, 1900), "at least", 100),
        (ABOVE, "threshold", 50),
        ((*ABOVE, *range(1001, 1100, 5)), "at least", 90),
    ],
    ids=["full", "any (PIE)", "near the largest queue (RED)", "above half", "above half, and once until empty (PIE)"],
)
def test_losses_at_any_queue_show_no_end_of_the_buffer(lost: tuple[int, ...], kind: str, pkts: int) -> None:
    found = grown_and_emptied(2000, lost, 0.0)
    assert found.kind == kind
    assert found.bytes == pytest.approx(pkts * 1514, rel=0.03)


def test_random_loss_is_told_from_what_a_small_buffer_drops_that_is_never_empty() -> None:
    ends = np.arange(490, 20_000, 500)
    lost = np.concatenate([ends, np.arange(100, 20_000, 487)])
    found = grown_and_emptied(20_000, lost, 0.03)  # above a quarter of the largest queue
    assert found.kind == "tail"
    assert found.random_loss_pct == pytest.approx(0.2, abs=0.02)


def test_numbers_that_jump_take_no_memory_for_each_packet_that_they_skip() -> None:
    """A capture from elsewhere may state any: here 1,000 of 2^31 each."""
    seq, waits_s = 1 + 2**31 * np.arange(1_000), np.linspace(0, 0.1, 1_000)
    down = Down(np.linspace(0, 1, 1_000), waits_s, seq, seq + 1448, np.full(1_000, 1514))
    assert buffer_of(down, 0.05, 1, 1514, 0).random_loss_pct > 99


@pytest.mark.parametrize(("sender", "refused"), [("cubic", True), ("hystartpp", True), ("bbr", False)])
def test_an_exit_by_round_trips_is_refused_where_acks_may_wait(found: Inferred, sender: str, refused: bool) -> None:
    waits_s = np.random.default_rng(1).uniform(0, 0.02, len(found.path.up.depart_s))
    chance = replace(found.path.up, least_s=waits_s, most_s=waits_s)
    jittery = replace(found, path=replace(found.path, up=chance))
    recorded, original = measured(jittery), emulated(jittery)
    case = Case(sender, jittery, recorded, [original], [original], [compare(recorded, original)])
    reasons = {each.quantity: each.reason for each in case.ranges()}
    for quantity in ("exit", "first loss", "lost", "5 MB", "bytes", "RTT"):  # 5 MB lie behind the exit
        assert ("it judges round trips" in reasons[quantity]) == refused
    late = replace(original, exit_s=60.0)
    case = Case(sender, jittery, recorded, [original], [late], [compare(recorded, original)])
    assert next(each for each in case.ranges() if each.quantity == "5 MB").low is not None


def test_an_exit_on_a_link_whose_rate_varies_at_once_is_refused(found: Inferred) -> None:
    assert found.rate_varies < 0.1
    down = found.path.down
    uneven_s = down.arrival_s + np.where(np.arange(len(down.arrival_s)) // 16 % 2, 0.006, 0.0)
    uneven = replace(found, path=replace(found.path, down=replace(down, arrival_s=np.sort(uneven_s))))
    assert "its exit is chance" in reasons(uneven, emulated(uneven))["exit"]


def test_an_exits_range_is_as_wide_as_two_judgements_are_apart(found: Inferred) -> None:
    recorded, original = measured(found), emulated(found)
    case = Case("search", found, recorded, [original], [original], [compare(recorded, original)])
    exit_range = next(each for each in case.ranges() if each.quantity == "exit")
    assert exit_range.low is not None
    assert exit_range.high is not None
    assert exit_range.high - exit_range.low == pytest.approx(0.02 * (recorded.exit_s or 0) + 2 * 0.35 * found.base_s)


def test_clean_removes_runs_on_inferred_links_and_no_others(
    tmp_path: Path, found: Inferred, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    inferred = profile(found, VARIANTS[0], 0.2)
    runs = {"whatif-x-a": inferred, "whatif-mine": inferred | {"recorded": []}, "try-link": inferred}
    for name, content in runs.items():
        folder = folder_at(tmp_path / "results" / name / "2026-11-25T21-00-00Z")
        (folder / "run.json").write_text(json.dumps({"name": name, "profile": content}))
        (folder.parent / "latest").symlink_to(folder.name)
    list(tidy(with_cache=False))
    assert {each.name for each in (tmp_path / "results").iterdir()} == {"whatif-mine", "try-link"}


def test_jumbo_frames_forbid_other_senders_and_not_the_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whatif_captures.HANDSHAKE_OPTIONS", struct.pack(">BBHBBBB", 2, 4, 1960, 3, 3, 7, 1))
    monkeypatch.setattr("whatif_captures.MSS", 1948)
    known = Known()
    file = capture(tmp_path / "x.pcap", Download(known).client, known)
    out = ["--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, ["whatif", str(file), *out]).exit_code == 0
    refused = CliRunner().invoke(app, ["whatif", str(file), "--was", "cubic", *out])
    assert str(refused.exception).startswith(f"{file}: segments=1948: must be of at most 1448 bytes")


@pytest.mark.parametrize(
    ("others", "line"),
    [
        ("cubic", "cubic: must be a sender other than that of --was"),
        ("bbr, cubic", "cubic: must be a sender other than that of --was"),
        ("bbr,bbr", "bbr,bbr: must be a list that names each sender once"),
    ],
)
def test_others_than_the_original_are_named_once(others: str, line: str) -> None:
    refused = CliRunner().invoke(app, ["whatif", "x.pcap", "--was", "cubic", "--cca", others])
    assert str(refused.exception).startswith(f"command line: cca={line}")
