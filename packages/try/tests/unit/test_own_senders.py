# SPDX-License-Identifier: GPL-2.0-or-later
"""The senders of a user's own modules: their names, and what keeps them apart from others."""

from pathlib import Path

import pytest
from lab_try.senders import own_senders
from passed_modules import passed

from lab.base.errors import UserError
from lab.schema.cca import load_ccas


def test_a_sender_is_named_by_what_its_module_registers_in_small_letters(tmp_path: Path) -> None:
    (sender,) = own_senders([passed(tmp_path / "file.c", "my_cc", gain=3)]).values()
    assert (sender.name, sender.algorithm, sender.module, sender.params) == ("my_cc", "my_cc", "file", {"gain": 3})
    assert not sender.reports_exit
    (sender,) = own_senders([passed(tmp_path / "file.c", "My-CC.2", depends=("tcp_slow_start",))]).values()
    assert (sender.name, sender.algorithm, sender.depends) == ("my_cc_2", "My-CC.2", ["tcp_slow_start"])
    assert sender.reports_exit  # by slow_start.h


@pytest.mark.parametrize(
    ("code", "qdisc"),
    [
        ("cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);", load_ccas()["bbr"].qdisc),
        ("sk->sk_pacing_rate = rate;", "fq"),
        ("WRITE_ONCE(sk->sk_pacing_rate, rate);", "fq"),
        ("if (sk->sk_pacing_rate == rate) rate = sk->sk_pacing_rate;", None),
        ("/* no SK_PACING_NEEDED */ int x; // sk_pacing_rate = 3", None),
    ],
)
def test_a_sender_that_requests_pacing_has_the_qdisc_that_paces(tmp_path: Path, code: str, qdisc: str | None) -> None:
    (sender,) = own_senders([passed(tmp_path / "file.c", "my_cc", content=code)]).values()
    assert sender.qdisc == qdisc


@pytest.mark.parametrize(
    ("modules", "names"),
    [
        ({"a.c": "my_cc", "b.c": "my_cc"}, {"my_cc_a", "my_cc_b"}),  # versions: by their files
        ({"v1/my_cc.c": "my_cc", "v2/my_cc.c": "my_cc"}, {"my_cc_v1", "my_cc_v2"}),  # of one name: by their folders
        ({"better.c": "search"}, {"search_better"}),  # a name of the lab's
        ({"better.c": "search", "a.c": "my_cc", "b.c": "your_cc"}, {"search_better", "my_cc", "your_cc"}),
        ({"v/a.c": "my_cc", "w/b.c": "my_cc", "c.c": "my_cc_a"}, {"my_cc_v", "my_cc_w", "my_cc_a"}),
    ],
)
def test_senders_of_one_name_are_told_apart_by_files(tmp_path: Path, modules: dict[str, str], names: set[str]) -> None:
    assert {*own_senders([passed(tmp_path / file, algorithm) for file, algorithm in modules.items()])} == names


def test_senders_of_ones_own_look_different_and_the_same_module_twice_is_refused(tmp_path: Path) -> None:
    twice = [passed(tmp_path / folder / "v/my.c", "my", content="same") for folder in ("a", "b")]
    with pytest.raises(UserError, match="must be a module with another content than the others"):
        own_senders(twice)
    senders = [own_senders([passed(tmp_path / "my.c", "my", content=content)])["my"] for content in ("1", "2")]
    assert len({sender.module_digest for sender in senders}) == 2
    own = own_senders([passed(tmp_path / f"{number}.c", f"cc{number}") for number in range(60)])
    looks = {(sender.marker, sender.linestyle) for sender in (*own.values(), *load_ccas().values())}
    assert len(looks) == 60 + len(load_ccas())
