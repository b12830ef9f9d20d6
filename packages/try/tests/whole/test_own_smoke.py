# SPDX-License-Identifier: GPL-2.0-or-later
"""A smoke test as the host sees it: what it boots, what it keeps, and what it says of a module that failed."""

import json
from pathlib import Path
from typing import Any

import pytest
from lab_try import smoke
from lab_try.module.build import OwnModule
from lab_try.module.source import OwnSource
from lab_try.node.smoke import Flow, Smoke
from lab_try.smoke import Finding, SmokeError, SmokeTest, faults

from lab.backends import boot, guest_code
from lab.backends.records import TrialError
from lab.backends.watched import MOST_CONSOLE_BYTES
from lab.kernel.build import Kernel
from lab.node.measure.splats import PLACE, splats
from tests.brief import folder_at, put

FINE: Flow = {"got_bytes": 1_636_240, "least_cwnd_pkts": 10, "most_cwnd_pkts": 254}
STUCK: Flow = {"got_bytes": 0, "least_cwnd_pkts": 1, "most_cwnd_pkts": 1}
# It may write in its room alone, so that it replies with what it was given: the parameters are any text.
SHELL = "#!/bin/sh\n"
KERNEL = """\
room=$(env | sed -n 's,^HOSTFS_[0-9]*=rw:/trial=,,p')
given="\\"boot\\": \\"$$ $*\\", \\"module\\": \\"$(cat "$room/own/own.ko")\\", \\"plan\\": $(cat "$room/plan.json")"
echo booted
"""
REPLY = """\
echo '{"algorithms": {"own": [FLOW]}, "needs_ecn": [], "parameters": {'"$given"'}, "leaks": []}' > "$room/answer.json"
"""


def replies(flow: Flow) -> str:
    return KERNEL + REPLY.replace("FLOW", json.dumps(flow))


@pytest.fixture(autouse=True)
def unsandboxed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in is a program of this machine; nothing is compiled for another one's Python."""
    monkeypatch.setenv("LAB_SANDBOX", "none")
    monkeypatch.setattr(guest_code, "ensure", lambda _world, _package: tmp_path)


@pytest.fixture
def module(tmp_path: Path) -> OwnModule:
    folder = folder_at(tmp_path / "module")
    (folder / "own.ko").write_bytes(b"a module")
    source = OwnSource(tmp_path / "own.c", tmp_path, "own", {"own.c": b""})
    return OwnModule(source, None, folder, "own", ("tcp_slow_start",), {}, False, ())  # type: ignore[arg-type]


def kernel(folder: Path, program: str, name: str = "kernel-1") -> Kernel:
    linux = put(folder / name / "obj" / "linux", SHELL + program)
    linux.chmod(0o755)
    return Kernel(linux, folder, folder, folder, {})


def given(test: SmokeTest) -> dict[str, Any]:
    found: dict[str, Any] = {**test.run()["parameters"]}
    return found


def test_a_module_that_passes_was_loaded_with_parameters_and_is_tested_once(tmp_path: Path, module: OwnModule) -> None:
    test = SmokeTest(module, {"beta": 717}, kernel(tmp_path, replies(FINE)), Path("/"))
    first = given(test)
    arguments = {"file": "own/own.ko", "name": "own", "params": {"beta": 717}, "depends": ["tcp_slow_start"]}
    assert first["plan"] == {"call": {"module": "lab_try.node.smoke", "function": "smoke", "arguments": arguments}}
    assert first["module"] == "a module"
    assert "mem=256M" in first["boot"].split()
    assert given(test) == first  # the process of the first time


def test_other_parameters_and_another_kernel_are_tests_of_their_own(tmp_path: Path, module: OwnModule) -> None:
    plain, other = (kernel(tmp_path, replies(FINE), name) for name in ("kernel-1", "kernel-2"))
    first = given(SmokeTest(module, {}, plain, Path("/")))
    second = given(SmokeTest(module, {"beta": 1, "alpha": 2}, plain, Path("/")))
    third = given(SmokeTest(module, {}, other, Path("/"), sanitized=True))
    assert len({each["boot"] for each in (first, second, third)}) == 3
    assert given(SmokeTest(module, {"alpha": 2, "beta": 1}, plain, Path("/"))) == second
    assert "mem=1024M" in third["boot"].split()


def test_a_flow_that_moves_nothing_fails_the_test_and_the_console_is_kept(tmp_path: Path, module: OwnModule) -> None:
    test = SmokeTest(module, {}, kernel(tmp_path, replies(STUCK)), Path("/"))
    with pytest.raises(SmokeError) as failed:
        test.run()
    reason = "own: bytes=0: must move data: its window never lets a segment out"
    log = failed.value.log_file
    assert str(failed.value) == f"{tmp_path / 'own.c'}: smoke test: {reason} (log: {log})"
    assert log.parent == module.folder
    printed = [line for line in log.read_text().splitlines() if "getcwd" not in line]  # which a kernel does not need
    assert printed == ["booted"]
    assert sorted(file.name for file in module.folder.iterdir()) == ["own.ko", log.name]  # a failure is no result


def test_a_kernel_that_panics_is_named_with_step_and_the_modules_function(tmp_path: Path, module: OwnModule) -> None:
    (module.folder / "own.symbols").write_text("")  # no line of the source is known
    panic = (
        'echo unloading > "$room/step"\n'
        'echo "RIP: 0033:hook+0x4/0xc [own]"; echo "Kernel panic - not syncing: Segfault with no mm"; exit 134\n'
    )
    reason = r"unloading\s*: a bad pointer \(Segfault with no mm\), in hook\+0x4 "
    with pytest.raises(SmokeError, match=rf"own\.c: smoke test in the sanitized kernel: {reason}"):
        SmokeTest(module, {}, kernel(tmp_path, KERNEL + panic), Path("/"), sanitized=True).run()


def test_a_kernel_that_ends_before_any_step_was_booting(tmp_path: Path, module: OwnModule) -> None:
    with pytest.raises(SmokeError, match=r"smoke test: booting: virtual kernel: exit status 0: .*something ended"):
        SmokeTest(module, {}, kernel(tmp_path, ""), Path("/")).run()


def test_a_kernel_not_begun_has_no_log(tmp_path: Path, module: OwnModule, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise TrialError("no room for a kernel")

    monkeypatch.setattr(boot, "call", fail)
    with pytest.raises(SmokeError, match="smoke test: booting: no room for a kernel") as failed:
        SmokeTest(module, {}, kernel(tmp_path, ""), Path("/")).run()
    assert failed.value.log_file.read_text() == ""


def test_a_module_that_takes_all_the_time_of_the_processor_is_ended(
    tmp_path: Path, module: OwnModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smoke, "PROCESSOR_S", 1)
    endless = kernel(tmp_path, KERNEL + "while :; do :; done\n")
    with pytest.raises(SmokeError, match=r"smoke test: booting: a hook loops or sleeps: .* of processor time"):
        SmokeTest(module, {}, endless, Path("/")).run()


NONE = Finding("none")
ENDED, STOPPED = "virtual kernel: no end after 8 s of processor time", "virtual kernel: exit status 134"
POINTER = "a flow of own: a bad pointer (Segfault with no mm)"
FULL_STACK = "a flow of own: a bad pointer, or a stack that is full (Kernel tried to access user memory)"
# Of the virtual kernel: a module whose hook writes to address 8, and one whose hook loops until it is ended.
BAD_POINTER = """\
own: loading out-of-tree module taints kernel.

Modules linked in: own(O)
Pid: 0, comm: swapper Tainted: G           O       6.12.117
RIP: 0033:hook+0x0/0xc [own]
RSP: 000000006046edd8  EFLAGS: 00000206
Kernel panic - not syncing: Segfault with no mm
"""
WILD = BAD_POINTER.replace(
    "Segfault with no mm", "Kernel tried to access user memory at addr 0x8acc42ac, ip 0xb0807007"
)
LOOP = BAD_POINTER.replace("hook+0x0/0xc", "my_avoid+0xe/0x13")
# Of the sanitized kernel.
KASAN = """\
==================================================================
BUG: KASAN: slab-use-after-free in hook+0x32/0x40 [own]
Write of size 1 at addr 0000000063a5e2c3 by task python3/1
Call Trace:
 kasan_report+0xc6/0x100
 hook+0x32/0x40 [own]
 tcp_assign_congestion_control+0x1d2/0x2b0
"""


class Lines:
    """Line numbers of a module that is not there: the offset is the line."""

    class module:  # noqa: N801
        """What a module must have."""

        name = "own"

    def line(self, function: str, offset: int) -> str | None:
        return f"own.c:{offset}" if function else None


def result_of(*flows: Flow, leaks: list[str] | None = None) -> Smoke:
    return {"algorithms": {"own": list(flows)}, "needs_ecn": [], "parameters": {}, "leaks": leaks or []}


def first(log: str = "", error: str = "", result: Smoke | None = None) -> Finding:
    return next(faults(log, error, "a flow of own", result, Lines()), NONE)  # type: ignore[arg-type]


def test_a_module_whose_flows_went_well_has_no_fault_nor_what_the_kernel_complains_of_before() -> None:
    assert first("own: loading out-of-tree module taints kernel.\n", result=result_of(FINE)) == NONE
    at_boot = "BUG: sleeping function called from invalid context\nRun /usr/bin/python3 as init process\n"
    assert first(at_boot, result=result_of(FINE)) == NONE
    assert first(at_boot + BAD_POINTER).message == "a flow of own: a bad pointer (Segfault with no mm), in hook+0x0"
    went_on = first(BAD_POINTER, result=result_of(FINE))  # its step is the last one
    assert went_on.message == "while it ran: a bad pointer (Segfault with no mm), in hook+0x0"


@pytest.mark.parametrize(
    ("log", "error", "found"),
    [
        (BAD_POINTER, STOPPED, Finding(f"{POINTER}, in hook+0x0", "own.c:0")),
        (WILD, STOPPED, Finding(f"{FULL_STACK}, in hook+0x0", "own.c:0")),
        (LOOP, ENDED, Finding(f"a flow of own: a hook does not return, in my_avoid+0xe: {ENDED}", "own.c:14")),
        ("", ENDED, Finding(f"a flow of own: a hook loops or sleeps: {ENDED}")),
        (  # a complaint without a place has the first place of the log
            "RIP: 0033:hook+0x4/0xc [own]\nKernel panic - not syncing: Segfault with no mm\n",
            STOPPED,
            Finding(f"{POINTER}, in hook+0x4", "own.c:4"),
        ),
    ],
    ids=["a bad pointer", "a full stack", "registers of an ended kernel", "ended elsewhere", "without a place"],
)
def test_a_kernel_that_ended_is_named_with_the_modules_function_and_line(log: str, error: str, found: Finding) -> None:
    assert first(log, error) == found


def test_a_refusal_is_the_kernels_own_and_a_return_address_of_the_call_before_it() -> None:
    where = "BUG: KASAN: slab-use-after-free in hook+0x32/0x40 [own], in hook+0x32"
    assert first(KASAN, result=result_of(FINE)) == Finding(f"while it ran: {where}", f"own.c:{0x31}")
    error = "insmod /trial/own/own.ko: exit status 1: insmod: ERROR; kernel: TCP: own does not implement required ops"
    found = first(error=error)
    assert found.message == (
        "a flow of own: the kernel refuses it: TCP: own does not implement required ops: "
        "ssthresh, undo_cwnd, and cong_avoid or cong_control must be set (net/ipv4/tcp_cong.c)"
    )


def test_used_up_memory_comes_first_and_a_leak_counts_though_every_flow_went_well() -> None:
    found = first(f"python3: page allocation failure: order:0\n{BAD_POINTER}", "virtual kernel: exit status 134")
    assert "memory is used up" in found.message
    found = first(result=result_of(FINE, leaks=["unreferenced object 0x61a3 (size 64)"]))
    assert "neither release nor the module's exit frees: unreferenced object" in found.message


def test_a_window_of_nothing_or_of_everything_and_a_flow_that_moves_nothing_are_faults() -> None:
    assert first(result=result_of(FINE, {**FINE, "least_cwnd_pkts": 0})).message.startswith("own: cwnd_pkts=0: must be")
    assert (
        "cwnd_pkts=1000001: must be at most" in first(result=result_of({**FINE, "most_cwnd_pkts": 1_000_001})).message
    )
    assert first(result=result_of({**FINE, "most_cwnd_pkts": 1_000_000})) == NONE
    assert "bytes=0: must move data" in first(result=result_of({**FINE, "got_bytes": 0})).message


@pytest.mark.parametrize("part", ["w", "a.", "a ", "BUG a ", "a+0x1"], ids=repr)
def test_no_log_of_four_megabytes_takes_the_search_for_a_place_long(part: str) -> None:
    """With a search that goes back over all of a line at each of its places, this takes hours."""
    log = part * (MOST_CONSOLE_BYTES // len(part))
    assert (PLACE.findall(log), splats(log)[1:]) == ([], [])
