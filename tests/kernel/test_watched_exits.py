# SPDX-License-Identifier: GPL-2.0-or-later
"""When modules that do not report their exit leave slow start: each pair below leaves at the same ACK."""

import pytest

from lab.kernel.build import Kernel
from lab.tables.stored_trial import Trial
from tests.command import lab
from tests.own_modules import hook, source, written

OPTIONS = ("--links", "wired", "--against", "reno", "--trials", "1", "--duration", "2", "--jobs", "2")


def from_threshold(threshold_pkts: int) -> str:
    code = f"static void begin(struct sock *sk)\n{{\n\ttcp_sk(sk)->snd_ssthresh = {threshold_pkts};\n}}\n"
    return source("ahead", code, init="begin")


def at_window(window_pkts: int, then: str) -> str:
    """Return a sender of an infinite threshold, and its rule once the window is reached."""
    body = f"""struct tcp_sock *tp = tcp_sk(sk);

	tcp_reno_cong_avoid(sk, ack, acked);
	if (tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH && tcp_snd_cwnd(tp) >= {window_pkts}) {{
		{then}
	}}"""
    return source("rule", hook(body), cong_avoid="hook")


LEAVES = "tp->snd_ssthresh = tcp_snd_cwnd(tp);"
MODULES = {
    "window_100": at_window(100, LEAVES),
    "from_100": from_threshold(100),
    "at_50_to_100": at_window(50, "tp->snd_ssthresh = 100;"),
    "lowered": at_window(100, f"{LEAVES}\n\t\ttcp_snd_cwnd_set(tp, 50);"),
    "from_100000": from_threshold(100_000),
}


@pytest.fixture(scope="module")
def exits(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel) -> dict[str, dict[str, object]]:
    assert kernel
    folder = tmp_path_factory.mktemp("watched")
    files = [str(written(folder, content, f"{name}.c")) for name, content in MODULES.items()]
    done = lab(folder / "results", "try", *files, *OPTIONS)
    assert done.returncode == 0, done.stderr
    trials = next((folder / "results/compare-wired").glob("[0-9]*")) / "trials"
    return {each.name.removesuffix("-001"): Trial(each).exits.to_dicts()[0] for each in trials.iterdir()}


@pytest.mark.parametrize(
    ("sender", "like"),
    [
        pytest.param("ahead_from_100", "rule_window_100", id="a threshold since its begin"),
        pytest.param("rule_at_50_to_100", "rule_window_100", id="a threshold that its rule sets ahead"),
        pytest.param("rule_lowered", "rule_window_100", id="a rule that lowers the window as it leaves"),
        pytest.param("ahead_from_100000", "reno", id="a threshold that a loss comes before"),
    ],
)
def test_slow_start_lasts_until_the_window_has_reached_the_threshold(
    exits: dict[str, dict[str, object]], sender: str, like: str
) -> None:
    fields = ("t_s", "cwnd_pkts", "ssthresh_pkts", "cause")
    assert {field: exits[sender][field] for field in fields} == {field: exits[like][field] for field in fields}
