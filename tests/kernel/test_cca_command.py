# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab cca` lists the senders, and shows one with all that its kernel knows of it."""

from pathlib import Path

import pytest

from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.schema.cca import load_senders
from tests.command import lab, refused

pytestmark = pytest.mark.usefixtures("kernel", "world")


def show(results: Path, name: str) -> str:
    done = lab(results, "cca", "show", name)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_list_has_every_sender_and_what_ends_its_slow_start(tmp_path: Path) -> None:
    listed = lab(tmp_path, "cca", "list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(load_senders())
    assert next(line for line in listed if line.startswith("reno")).endswith("nothing but loss")


def test_a_module_of_the_lab_is_shown_with_its_parameters_as_the_kernel_has_them(tmp_path: Path) -> None:
    shown = show(tmp_path, "hystartpp")
    assert "source      lab/kernel/search/" in shown
    assert "exit        reported by the sender itself" in shown
    constants = {"min_rtt_thresh_us": 4000, "max_rtt_thresh_us": 16000, "min_rtt_divisor": 8, "n_rtt_sample": 8}
    for name, value in (constants | {"css_growth_divisor": 4, "css_rounds": 5, "l_pkts": 8}).items():
        assert f"parameter   {name} = {value}   " in shown


def test_a_sender_of_the_kernel_is_shown_with_its_source_its_memory_and_what_it_needs(
    tmp_path: Path, kernel: Kernel, world: Image
) -> None:
    source = kernel.described["kernel_source"]
    assert f"net/ipv4/tcp_bbr.c of {source}" in show(tmp_path, "bbr")
    assert "needs       qdisc fq" in show(tmp_path, "bbr")
    assert "module      tcp_cubic, built in" in show(tmp_path, "cubic")
    assert "104 bytes of its socket, and 64 bytes allocated" in show(tmp_path, "cdg")
    assert f"net/ipv4/tcp_cong.c of {source}" in show(tmp_path, "reno")
    assert "needs       net.ipv4.tcp_ecn=1" in show(tmp_path, "dctcp")
    assert world


def test_a_sender_that_does_not_exist_is_refused_in_one_line(tmp_path: Path) -> None:
    line = refused(lab(tmp_path, "cca", "show", "vegaz"))
    assert line.startswith("command line: name=vegaz: must be a known sender of lab/cca.yml or a package: ")
