# SPDX-License-Identifier: GPL-2.0-or-later
"""A small search from the command to a find; the same on two machines, each a folder with a cache and results."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
import yaml

from lab.kernel.build import Kernel
from tests.command import lab, refused
from tests.own_cache import cache_with

SMALL = {
    "title": "small links",
    "duration_s": 2,
    "rate_mbps": {"least": 5, "most": 20, "usual": 10, "scale": "log"},
    "delay_ms": 50,
    "buffer_bdps": {"least": 0.5, "most": 4, "usual": 1},
    "loss_pct": {"least": 1, "most": 5, "usual": 3},
}
BUDGET = 8
CRASHES_BEYOND_3_MB = """// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <net/tcp.h>

static void crash_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	if (tcp_sk(sk)->bytes_acked > 3500000)
		panic("beyond 3.5 MB");
	tcp_reno_cong_avoid(sk, ack, acked);
}

static struct tcp_congestion_ops crash = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= crash_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "crash",
};

static int __init crash_register(void)
{
	return tcp_register_congestion_control(&crash);
}

static void __exit crash_unregister(void)
{
	tcp_unregister_congestion_control(&crash);
}

module_init(crash_register);
module_exit(crash_unregister);
MODULE_LICENSE("GPL");
"""
WHOLE = f"{BUDGET // 2} of {BUDGET // 2} links"


def searching(folder: Path) -> list[str]:
    bounds = folder / "small.yml"
    bounds.write_text(yaml.safe_dump(SMALL))
    words = ("--bounds", str(bounds), "--budget", str(BUDGET), "--rivals", "bbr")
    return ["break", "cubic", "--measure", "early", *words]


def ran(results: Path, *words: str, status: int = 0, **environment: str) -> str:
    done = lab(results, *words, **environment)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel) -> Path:
    """What two machines left, the merged results, and the same search of one machine."""
    folder = tmp_path_factory.mktemp("break")
    for number in (1, 2):
        machine = folder / f"machine{number}"
        machine.mkdir()
        cache = cache_with(kernel, machine / "cache")
        words = ("--shard", f"{number}/2", "--out", str(machine / "out"))
        ran(machine / "results", *searching(folder), *words, LAB_CACHE=str(cache))
    ran(folder / "merged", "merge", str(folder / "machine1" / "out"), str(folder / "machine2" / "out"))
    (folder / "alone.txt").write_text(ran(folder / "alone", *searching(folder), "--islands", "2"))
    return folder


def find_of(results: Path) -> Path:
    (file,) = results.glob("break/cubic-early-small-*/find.json")
    return file


def test_the_budget_is_shown_before_and_the_find_after(folder: Path) -> None:
    printed = (folder / "alone.txt").read_text()
    assert printed.index(f"budget: {BUDGET} trials") < printed.index(WHOLE) < printed.index("smallest link")
    for name in ("map", "page", "link", "digest", "repeat"):
        assert f"\n{name}" in printed


def test_nothing_of_the_searchs_own_trials_is_left(folder: Path) -> None:
    assert [each.name for each in find_of(folder / "alone").parent.iterdir() if each.is_dir()] == []


def test_a_find_is_repeated_packet_for_packet(folder: Path) -> None:
    printed = ran(folder / "again", "break", "cubic", "--repeat", str(find_of(folder / "alone")))
    assert printed.count("SAME") == 2


def test_a_find_that_comes_out_otherwise_is_named(folder: Path, tmp_path: Path) -> None:
    found = json.loads(find_of(folder / "alone").read_text())
    found["trials"]["cubic"]["packets"] = "0123456789abcdef"
    file = tmp_path / "find.json"
    file.write_text(json.dumps(found))
    printed = ran(tmp_path / "again", "break", "cubic", "--repeat", str(file), status=1)
    assert "DIFFERENT cubic" in printed
    assert "SAME bbr" in printed


def test_the_page_of_the_find_has_the_sender_beside_a_rival(folder: Path) -> None:
    (page,) = folder.glob("alone/break-cubic-early-small-*/latest/report.html")
    assert "BBR v1" in page.read_text()


def test_the_profile_of_the_find_is_one_that_lab_run_takes(folder: Path) -> None:
    link = find_of(folder / "alone").with_name("link.yml")
    words = ("--cca", "cubic", "--trials", "1", "--duration", "2", "--seed", "1")
    ran(folder / "by-run", "run", "--profile", str(link), *words)
    found = json.loads(find_of(folder / "alone").read_text())
    (table,) = folder.glob("by-run/try-link/latest/trials.parquet")
    assert pl.read_parquet(table)["packets"].to_list() == [found["trials"]["cubic"]["packets"]]


def test_the_same_command_runs_no_trial_again(folder: Path) -> None:
    printed = ran(folder / "alone", *searching(folder), "--islands", "2")
    assert printed.count("; 0 trials run") == 2


def test_islands_of_two_machines_find_what_one_machine_does(folder: Path) -> None:
    printed = ran(folder / "merged", *searching(folder), "--islands", "2")
    assert printed.count("; 0 trials run") == 2
    merged, alone = (json.loads(find_of(folder / name).read_text()) for name in ("merged", "alone"))
    assert merged == alone


def test_a_missing_island_is_named(folder: Path) -> None:
    line = refused(lab(folder / "half", "merge", str(folder / "machine1" / "out")))
    assert line == "lab merge: missing shard 2/2: run the same command with --shard 2/2"


def test_islands_of_two_searches_are_refused(folder: Path, tmp_path: Path) -> None:
    words = ["--seed", "2", "--shard", "2/2", "--out", str(tmp_path / "out")]
    ran(tmp_path / "results", *searching(folder), *words)
    line = refused(lab(tmp_path / "merged", "merge", str(folder / "machine1" / "out"), str(tmp_path / "out")))
    assert f"{tmp_path / 'out' / 'island.json'}: request.seed=2: must be 1, as in" in line


def test_a_damaged_trial_of_an_island_is_named_and_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "machine2" / "out", tmp_path / "out")
    file = next(tmp_path.glob("out/break/trials/??/*.json"))
    file.write_text(file.read_text().replace('"end_s": 2', '"end_s": 3'))
    line = refused(lab(tmp_path / "merged", "merge", str(folder / "machine1" / "out"), str(tmp_path / "out")))
    assert line.startswith(f"{file}: sha256=")
    assert not (tmp_path / "merged" / "break").exists()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("cubic", "--measure", "speed"), "command line: measure=speed: must be one of early, early-own"),
        (("cubic", "--bounds", "moon"), "command line: bounds=moon: must be one of"),
        (("cubik",), "command line: sender=cubik: must be a known sender"),
        (("cubic", "--budget", "0"), "command line: budget=0: must be 1 to 100000 trials"),
        (("cubic", "--measure", "differs"), "command line: against=: must be given: the version that it differs from"),
        (("cubic", "--against", "bbr"), "command line: against=bbr: must be used with --measure differs"),
        (("cubic", "--optimiser", "tpee"), "command line: optimiser=tpee: must be a known one: did you mean tpe?"),
        (("cubic", "--rivals", "cubic"), "command line: rivals=: must be a sender other than cubic"),
        (("no/such.c",), "command line: sender=no/such.c: must be a file that exists, or a sender's name"),
        (("cubic", "--shard", "3/2", "--out", "x"), "command line: shard=3/2: must be K/N"),
        (("cubic", "--shard", "1/2"), "command line: shard=1/2: must be used with --out DIR"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, words: tuple[str, ...], line: str) -> None:
    assert refused(lab(tmp_path, "break", *words)).startswith(line)


def test_a_measure_that_no_trial_has_is_one_line(tmp_path: Path) -> None:
    bounds = {**SMALL, "delay_ms": 800, "rate_mbps": {"least": 90, "most": 100, "usual": 95}, "loss_pct": 0}
    file = tmp_path / "far.yml"
    file.write_text(yaml.safe_dump(bounds))
    words = ("--bounds", str(file), "--budget", "2", "--measure", "late")
    line = refused(lab(tmp_path, "break", "cubic", *words))
    assert "measure=late: must be one that a trial has: none of 2 links gave a value" in line


def test_a_sender_that_crashes_on_some_links_is_a_find_and_the_search_goes_on(tmp_path: Path) -> None:
    source = tmp_path / "crash.c"
    source.write_text(CRASHES_BEYOND_3_MB)
    rates = {"least": 5, "most": 40, "usual": 10, "scale": "log"}
    bounds = {**SMALL, "rate_mbps": rates, "delay_ms": 10, "loss_pct": 0, "duration_s": 4}
    file = tmp_path / "far.yml"
    file.write_text(yaml.safe_dump(bounds))
    words = ("--bounds", str(file), "--budget", "6", "--rivals", "cubic")
    printed = ran(tmp_path, "break", str(source), *words)
    assert "6 of 6 links: worst no result at all" in printed
    assert "crash.c: no result: " in printed
    (found,) = tmp_path.glob("break/crash-early-far-*/find.json")
    assert "beyond 3.5 MB" in json.loads(found.read_text())["trials"][str(source)]["crash"]


def test_a_budget_of_one_trial_is_one_link(tmp_path: Path, kernel: Kernel) -> None:  # noqa: ARG001 - it is built
    file = tmp_path / "small.yml"
    file.write_text(yaml.safe_dump(SMALL))
    printed = ran(tmp_path, "break", "cubic", "--bounds", str(file), "--budget", "1")
    assert "budget: 1 trial (1 link of 2 s, each with cubic)" in printed
    assert "1 of 1 link: " in printed
    assert "1 links" not in printed
