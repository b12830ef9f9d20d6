# SPDX-License-Identifier: GPL-2.0-or-later
"""Case files are read whole, each mistake is a line that names the field; and what the page of a run says of them."""

import json
from pathlib import Path

import pytest
import yaml
from lab_conform.case import FOLDER, Case, chosen, read_case, suites
from lab_conform.link import Span, profile
from lab_conform.page import PAGE, explained, finding, findings, write_page
from lab_conform.run import Attempt, experiment_of
from lab_conform.subject import subject
from lab_conform.verdict import Outcome, Verdict

from bench.measured import PUBLISHED
from lab.base.errors import UserError
from lab.base.paths import REPO
from lab.schema.cca import load_senders
from tests.brief import error_of, put
from tests.command import lab, refused

GOOD = {
    "title": "A loss halves the window",
    "source": {"document": "rfc5681", "section": "3.1"},
    "link": {"events": [{"when": {"cwnd_pkts": 50}, "drop": [0]}]},
    "checks": [{"measure": "threshold_error_pkts", "with": {"factor": 0.5}, "most": 1, "because": "half"}],
}


def check(**fields: object) -> dict[str, object]:
    return {"checks": [{"measure": "reductions", "least": 1, "because": "a loss"} | fields]}


def event(**fields: object) -> dict[str, object]:
    return {"link": {"events": [fields]}}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (check(measure="bogus"), "a known measure"),
        (check(**{"with": {"number": 2}}), "parameters of reductions: none (not number)"),
        (check(measure="threshold_error_pkts"), "threshold_error_pkts with its parameter factor"),
        (check(measure="threshold_error_pkts", **{"with": {"factor": "half"}}), "whose factor is a number"),
        (
            check(measure="undone_window_ratio", **{"with": {"event": 1}}),
            "undone_window_ratio with an event of the link's 1",
        ),
        (
            check(measure="undone_window_ratio", **{"with": {"event": -1}}),
            "undone_window_ratio with an event of the link's 1",
        ),
        (check(measure="threshold_pkts", **{"with": {"number": 0}}), "threshold_pkts whose number is 1 or more"),
        (check(measure="mean_window_pkts", **{"with": {"from_s": -1}}), "mean_window_pkts whose from_s is 0 or more"),
        (check(measure="repair_rtts") | {"link": {}}, "repair_rtts with an event of the link's 0, counted from 0"),
        (check(least=None), "a check with least or most, or with equals"),
        (check(equals="none"), "a check with least or most, or with equals"),
        ({"checks": []}, "at least 1"),
        (event(drop=[0]), "plus_s or plus_rtts where it follows"),
        (event(plus_s=1, loss_pct=1), "first has at_s or when"),
        (event(at_s=1, when={"exit": True}, loss_pct=1), "at_s, with when, or with neither"),
        (event(when={"cwnd_pkts": 5, "exit": True}, drop=[0]), "one state of cwnd_pkts"),
        (event(when={"cwnd_pkts": 5}), "one of drop, loss_pct, delay_ms and rate_mbps"),
        (event(when={"cwnd_pkts": 5}, drop=[0], delay_ms=3), "one of drop, loss_pct, delay_ms and rate_mbps"),
        (event(at_s=1, drop=[0]), "a drop of one packet or more, at a state"),
        (event(when={"cwnd_pkts": 5}, rate_mbps=3, way="up"), "way: down"),
        ({"needs": ["telepathy"]}, "needs"),
        ({"duration_s": 0}, "duration_s"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_mistake_in_a_case_is_one_line(change: dict[str, object], rule: str, tmp_path: Path) -> None:
    file = put(tmp_path / "case.yml", yaml.safe_dump(GOOD | change))
    assert rule in error_of(read_case, file)


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (("cubic", "--case", "CASE"), "must be a known measure"),
        (("cubic", "--suite", "rfc9999"), "must be a known suite"),
        (("cubic,cubic", "--suite", "rfc9438"), "each named once"),
        (("nobody", "--suite", "rfc9438"), "nobody"),
    ],
)
def test_a_mistake_of_the_command_line_is_a_line_and_status_2(
    words: tuple[str, ...], rule: str, tmp_path: Path
) -> None:
    file = put(tmp_path / "case.yml", yaml.safe_dump(GOOD | check(measure="bogus")))
    line = refused(lab(tmp_path, "conform", *(str(file) if word == "CASE" else word for word in words)))
    assert rule in line


def test_a_file_that_is_no_yaml_is_one_line(tmp_path: Path) -> None:
    file = put(tmp_path / "case.yml", "title: [")
    assert "line" in error_of(read_case, file)


@pytest.mark.parametrize("file", [file for files in suites().values() for file in files], ids=lambda file: file.stem)
def test_each_case_is_whole_and_makes_experiments(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    case, sender = read_case(file), load_senders()["careful_resume"]
    assert case.suite == file.parent.name
    made = experiment_of("0123", Attempt(0, case, subject(sender, [case])))
    assert made.ccas["careful_resume"].params == case.params
    assert [*made.rivals] == ([case.rival] if case.rival else [])
    assert made.scenario.rival_start_s == case.rival_start_s


def test_each_mutant_names_a_case_and_the_text_that_it_changes() -> None:
    folder, kernel = REPO / "packages/conform/mutants", REPO / "lab/kernel"
    own = {name: [*kernel.glob(f"*/*{name}*.[ch]")] for name in ("careful_resume", "hystartpp", "bbr3")}
    files = {"reno": [folder / "reno.c"], **own}
    for mutant in yaml.safe_load((folder / "mutants.yml").read_text()):
        assert (FOLDER / f"{mutant['case']}.yml").is_file(), mutant["name"]
        texts = [file.read_text() for file in files.get(mutant["of"], [])]
        assert not texts or any(mutant.get("old", "") in text for text in texts), mutant["name"]
        assert mutant.get("params") or mutant.get("sysctls") or mutant["old"] != mutant["new"]


@pytest.mark.parametrize(
    ("suite", "case", "rule"),
    [("rfc9999", None, "a known suite"), ("rfc9438", "bogus", "a case of rfc9438"), (None, "no/such.yml", "readable")],
)
def test_an_unknown_suite_or_case_is_one_line(suite: str | None, case: str | None, rule: str) -> None:
    with pytest.raises(UserError, match=rule):
        chosen(suite, case)


def test_events_lie_over_the_base_value_and_the_later_one_above() -> None:
    spans = [Span("down", "delay_ms", 60.0, 1.0), Span("down", "delay_ms", 90.0, 1.5, 2.0)]
    steps = profile(Case.model_validate(GOOD), spans)["down"]["delay_ms"]["steps"]
    assert [(each["from_s"], each["value"]) for each in steps] == [(0.0, 20.0), (1.0, 60.0), (1.5, 90.0), (2.0, 60.0)]


@pytest.mark.parametrize(
    ("sender", "case", "why"),
    [
        ("reno", "rfc9438/decrease-factor", "reno does not state that it follows rfc9438"),
        ("cubic", "rfc5681-6928/halving", "cubic follows rfc9438, which has another rule here"),
        ("cubic", "search/bin-length", "cubic does not state that it follows draft-chung-ccwg-search"),
        ("cubic", "rfc9438/decrease-factor", None),
        ("search", "search/bin-length", None),
        ("vegas", "rfc9438/decrease-factor", "vegas does not state that it follows rfc9438"),
        ("vegas", "rfc5681-6928/initial-window", None),
        ("cubic_quic", "rfc9438/decrease-factor", "cubic_quic does not offer threshold, states"),
        ("cubic_quic", "rfc9743/uses-the-link", None),
        ("reno_ngtcp2", "c4/alone", None),
        ("cubic_quic", "rfc9743/shares-with-reno", "cubic_quic does not offer rival"),
        ("bbr_quic", "bbr/startup-stays-when-app-limited", None),
        ("cubic", "rfc9002/initial-window", "cubic does not state that it follows rfc9002"),
        ("reno_quic", "rfc9002/slow-start", None),
        ("bbr3_quic", "rfc9002/pto-backoff", None),
        ("bbr3_quic", "rfc9002/underutilised", "bbr3_quic follows draft-ietf-ccwg-bbr, which has another rule here"),
        ("careful_resume", "rfc9959/paced", None),
        ("careful_resume", "rfc9406/jitter", "careful_resume does not state that it follows rfc9406"),
    ],
)
def test_a_case_applies_to_who_follows_its_text(sender: str, case: str, why: str | None) -> None:
    found = chosen(None, case)
    assert subject(load_senders()[sender], found).why_not(found[0]) == why


def test_parameters_of_a_module_do_not_apply_to_a_sender_without_one() -> None:
    case = Case.model_validate(GOOD | {"params": {"beta": 512}})
    assert subject(load_senders()["reno"], [case]).why_not(case) == "reno has no module with the parameters beta"


def test_a_case_that_needs_what_a_sender_does_not_offer_does_not_apply() -> None:
    found = chosen(None, "search/bin-length")
    own = load_senders()["cubic"].model_copy(update={"module_digest": "0123"})
    assert subject(own, found).why_not(found[0]) == "cubic does not offer bins"


def test_a_module_of_ones_own_follows_all_texts_but_that_of_quic() -> None:
    own = load_senders()["cubic"].model_copy(update={"module_digest": "0123"})
    cases = chosen("rfc9002", None) + chosen("rfc8985", None)
    assert {each.suite for each in cases if subject(own, cases).why_not(each) is None} == {"rfc8985"}


def test_the_limit_of_an_ack_is_no_rule_for_a_module_that_paces() -> None:
    found = chosen(None, "rfc9406/growth-limit")
    own = load_senders()["cubic"].model_copy(update={"module_digest": "0123"})
    assert subject(own, found).why_not(found[0]) is None
    paced = own.model_copy(update={"qdisc": "fq"})
    assert subject(paced, found).why_not(found[0]) == "cubic does not offer unpaced"


@pytest.mark.parametrize(
    ("exit_rule", "case", "reason"),
    [
        ("own", "c4/alone", "mine_cubic does not offer places"),
        ("own", "rfc9743/uses-the-link", None),
        ("estimated", "rfc9743/uses-the-link", None),
    ],
)
def test_a_stack_of_ones_own_offers_packets_without_their_places(exit_rule: str, case: str, reason: str | None) -> None:
    quinn = load_senders()["cubic_quic"]
    own = {"name": "mine_cubic", "transport": "udp", "slow_start_exit": exit_rule, "module_digest": "1"}
    (found,) = chosen(None, case)
    assert subject(quinn.model_copy(update=own), [found]).why_not(found) == reason


def _verdict(case: str, sender: str, outcome: Outcome, reason: str = "every check holds") -> Verdict:
    return Verdict(chosen(None, case)[0], sender, outcome, reason)


@pytest.fixture
def page(tmp_path: Path) -> str:
    found = [
        _verdict("rfc5681-6928/timeout-least", "cubic", "failed", "334 < 1000"),
        _verdict("rfc5681-6928/halving", "cubic", "failed", "0.9 <of> it"),
        _verdict("rfc5681-6928/limited-transmit", "cubic", "failed", "1 < 2"),
        _verdict("rfc9438/decrease-factor", "cubic", "passed"),
        _verdict("rfc9406/jitter", "cubic", "not applicable", "cubic does not state it"),
    ]
    write_page(tmp_path, found)
    return (tmp_path / PAGE).read_text()


def test_it_begins_with_the_answer_for_each_sender(page: str) -> None:
    assert "<b>cubic</b>: 1 of 4 cases that apply passed, 3 failed, 2 of them known." in page


def test_failures_stand_before_the_tables_with_what_is_known_or_the_reason(page: str) -> None:
    failed = page.split("<h2>What failed</h2>")[1].split("<h2 id")[0]
    assert "known, sender: the least timeout is 200 ms" in failed
    assert "with <code>net.ipv4.tcp_tso_win_divisor=100</code>, which" in failed
    assert "0.9 &lt;of&gt; it" in failed


def test_a_failure_of_a_sender_of_ones_own_names_those_of_the_lab_that_fail_the_case_too() -> None:
    case = "rfc5681-6928/threshold-from-flight"
    assert explained(_verdict(case, "mine", "failed")) == "failed by reno, too: docs/conform-senders.md has why"
    assert (
        explained(_verdict(case, "mine", "passed")) == explained(_verdict("search/bin-length", "mine", "failed")) == ""
    )


def test_cases_that_apply_to_nobody_are_counted_with_their_reason(page: str) -> None:
    assert "1 of 1 cases apply to no sender here: cubic does not state it." in page


def test_findings_name_cases_that_there_are() -> None:
    known = {case.name for case in chosen(None, None)}
    assert {case for each in findings() for case in each.cases} - known == set()


def test_no_cell_has_two_findings() -> None:
    cells = [(sender, case) for each in findings() for sender in each.senders for case in each.cases]
    assert len(cells) == len({*cells})


def test_every_published_failure_was_looked_at() -> None:
    failures = json.loads((PUBLISHED / "conform.json").read_text())["failures"]
    assert [row for row in failures if finding(row["sender"], row["case"]) is None] == []
