# SPDX-License-Identifier: GPL-2.0-or-later
"""Complaints of gcc 14, as and make, with the user's own path, line and column."""

from pathlib import Path

import pytest

from lab.kernel.own.diagnostics import Diagnostic, read_diagnostics
from lab.kernel.own.hints import hint_of
from lab.kernel.own.source import OwnSource, read_source
from tests.own_old_names import OLD, without_hint

SOURCE = OwnSource(Path("/home/me/my_cc.c"), Path("/home/me"), "my_cc", {})
TWICE = """\
In file included from /tmp/own/my_cc.c:3:
/build/src/include/linux/module.h:131:49: error: redefinition of '__inittest'
  131 |         static inline initcall_t __maybe_unused __inittest(void)                \\
/tmp/own/my_cc.c:27:1: note: in expansion of macro 'module_init'
   27 | module_init(own_init);
/build/src/include/linux/module.h:131:49: note: previous definition of '__inittest' with type 'int (*(void))(void)'
/tmp/own/my_cc.c:24:1: note: in expansion of macro 'module_init'
"""
BUG_ON = """\
/build/src/include/linux/compiler_types.h:517:45: error: call to '__compiletime_assert_1' declared with \
attribute error: BUILD_BUG_ON failed: sizeof(struct my) > ICSK_CA_PRIV_SIZE
/build/src/include/linux/build_bug.h:50:9: note: in expansion of macro 'BUILD_BUG_ON_MSG'
/tmp/own/my_cc.c:75:9: note: in expansion of macro 'BUILD_BUG_ON'
"""
ASSEMBLER = "/tmp/own/my_cc.c: Assembler messages:\n/tmp/ccM0JNOX.s:6: Error: file not found: /home/me/secret\n"
PLAIN = """\
/tmp/own/my_cc.c:8:9: error: implicit declaration of function 'nowhere' [-Wimplicit-function-declaration]
/tmp/own/my_cc.c:9:1: note: in expansion of macro 'other'
"""


NO_SOURCE = """\
make[3]: *** No rule to make target '/tmp/own/none.o', needed by '/tmp/own/'.  Stop.
make[2]: *** [/build/src/Makefile:2008: /tmp/own] Error 2
"""


@pytest.mark.parametrize(
    ("output", "beginning"),
    [
        (TWICE, "/home/me/my_cc.c:27:1: error: redefinition of '__inittest'"),
        (BUG_ON, "/home/me/my_cc.c:75:9: error: call to '__compiletime_assert_1' declared with attribute error"),
        (ASSEMBLER, "/home/me/my_cc.c: error: assembler: file not found: /home/me/secret"),
        (NO_SOURCE, "/home/me/my_cc.c: error: No rule to make target 'none.o'"),
        (PLAIN, "/home/me/my_cc.c:8:9: error: implicit declaration of function 'nowhere'"),
    ],
)
def test_a_complaint_is_at_the_users_line(output: str, beginning: str) -> None:
    (found,) = read_diagnostics(output, "/tmp/own", SOURCE)
    assert found.line.startswith(beginning)


def test_a_state_too_large_a_name_and_a_header_that_moved_have_their_hint() -> None:
    (found,) = read_diagnostics(BUG_ON, "/tmp/own", SOURCE)
    assert "a socket has 104 bytes for the state" in found.line
    assert without_hint(captured("old_names")) == []
    (found,) = captured("old_header")
    assert found.message.endswith("(include <linux/unaligned.h>, since Linux 6.12)")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("\tops.pkts_acked = acked;", " (.pkts_acked is void (*)(struct sock *sk, const struct ack_sample *sample)"),
        ("\tpkts_acked: acked,", " (.pkts_acked is void (*)(struct sock *sk, const struct ack_sample *sample)"),
        ("\tacked,", " (see struct tcp_congestion_ops in include/net/tcp.h)"),
    ],
)
def test_a_hook_is_recognised_however_it_is_set(line: str, hint: str) -> None:
    message = "assignment to 'void (*)(int)' from incompatible pointer type 'void (*)(void)'"
    assert hint_of(message, line).startswith(hint)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("NET_INC_STATS_USER", "(use NET_INC_STATS and the like, without _USER, "),
        ("get_seconds", "(use ktime_get_real_seconds(), ktime_get())"),
        ("ktime_to_timespec", "(use ktime_to_timespec64(), ktime_to_us(), since"),
        ("register_sysctl_table", "(use register_net_sysctl(net, path, table), "),
        ("prandom_bytes", "(use get_random_bytes(), since Linux 6.1)"),
    ],
)
def test_a_name_that_a_module_used_has_its_hint(name: str, hint: str) -> None:
    assert hint_of(f"implicit declaration of function '{name}'", "").startswith(f" {hint}")


@pytest.mark.parametrize(
    ("message", "line", "hint"),
    [
        (
            "macro 'access_ok' passed 3 arguments, but takes just 2",
            "",
            "(use access_ok(address, size), since Linux 5.0)",
        ),
        ("stdarg.h: No such file or directory", "", "(include <linux/stdarg.h>, since Linux 5.16)"),
        (
            "passing argument 4 of 'proc_create' from incompatible pointer type",
            '\tproc_create("x", 0444, NULL, &fops);',
            "(give it a struct proc_ops, not file_operations, since Linux 5.6)",
        ),
    ],
)
def test_what_a_module_beside_its_hooks_used_has_its_hint(message: str, line: str, hint: str) -> None:
    assert hint_of(message, line).startswith(f" {hint}")


def captured(name: str) -> list[Diagnostic]:
    """Return what gcc 14 complained of, for Linux 6.12 (the lines of its output that read_diagnostics reads)."""
    return read_diagnostics((OLD / f"{name}.log").read_text(), "/tmp/own", read_source(OLD / f"{name}.c"))
