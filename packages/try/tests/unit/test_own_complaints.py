# SPDX-License-Identifier: GPL-2.0-or-later
"""Complaints of the compiler, the linker and make are at the user's own line, with a hint where one is known."""

from dataclasses import replace
from pathlib import Path

import pytest
from lab_try.module.diagnostics import BuildError, Diagnostic, read_diagnostics
from lab_try.module.hints import hint_of
from lab_try.module.source import OwnSource, read_source, read_sources
from lab_try.module.structs import types_of_states

from tests.own_old_names import OLD, without_hint

SOURCE = OwnSource(Path("/home/me/my_cc.c"), Path("/home/me"), "my_cc", {})
TWICE = """\
In file included from /tmp/own/my_cc.c:3:
/build/src/include/linux/module.h:131:49: error: redefinition of '__inittest'
/tmp/own/my_cc.c:27:1: note: in expansion of macro 'module_init'
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
FIRST = "multiple definition of `foo'; /tmp/own/a.o:/tmp/own/a.c:14: first defined here"
NO_C = """\
In file included from /tmp/own/my_cc.c:3:
/tmp/own/a.txt:1:1: error: unknown type name 'Notes'
/tmp/own/a.txt:1:10: error: expected '=', ',', ';', 'asm' or '__attribute__' before 'my'
/tmp/own/a.txt:5:6: warning: missing terminating ' character
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
        (NO_SOURCE, "/home/me/my_cc.c: error: No rule to make target 'none.o' (obj-m names it, and no .c file"),
        ("cc1: fatal error: /x: Permission denied\n", "/home/me/my_cc.c: error: /x: Permission denied"),
        ("gcc: error: no option '-f'\nmake[2]: *** Deleting file 'a.o'\n", "/home/me/my_cc.c: error: no option '-f'"),
        (
            "virtual memory exhausted: Cannot allocate memory\nmake[2]: *** [Makefile.build:234: my_cc.o] Error 1\n",
            "/home/me/my_cc.c: error: virtual memory exhausted: Cannot allocate memory",
        ),
        (
            "as: out of memory allocating 460 bytes\nmake: *** [x] Error 1\n",
            "/home/me/my_cc.c: error: as: out of memory",
        ),
        ("/tmp/own/my_cc.c:7: Fatal error: macros nested\n", "/home/me/my_cc.c:7: error: macros nested"),
        (f"ld: /tmp/own/b.o: in function `foo':\n/tmp/own/b.c:3: {FIRST}\n", "/home/me/b.c:3: error: multiple def"),
        (PLAIN, "/home/me/my_cc.c:8:9: error: implicit declaration of function 'nowhere'"),
        (
            NO_C,
            "/home/me/a.txt:1:1: error: unknown type name 'Notes' (/home/me/my_cc.c:3 takes this file in: it must be",
        ),
    ],
)
def test_a_complaint_is_at_the_users_line(output: str, beginning: str) -> None:
    (found,) = read_diagnostics(output, "/tmp/own", SOURCE)
    assert found.line.startswith(beginning)


def test_a_source_is_cut_into_lines_once_however_many_complaints_it_has() -> None:
    class Counted(bytes):
        def decode(self, *how: str, **named: str) -> str:
            counted.append(self)
            return super().decode(*how, **named)

    counted: list[bytes] = []
    source = replace(SOURCE, files={"my_cc.c": Counted(b"a line\n" * 1000)})
    output = "".join(f"/tmp/own/my_cc.c:{number}:1: error: unknown\n" for number in range(1, 1000))
    assert len(read_diagnostics(output, "/tmp/own", source)) == 999
    assert len(counted) == 1


def test_a_complaint_without_end_is_a_line_of_bounded_length() -> None:
    error = BuildError(
        SOURCE.path, read_diagnostics(f"/tmp/own/my_cc.c:1:2: error: {'A' * 10**6}", "/tmp/own", SOURCE), ""
    )
    assert error.lines == [str(error)]
    assert len(str(error)) < 3000


def test_a_state_too_large_a_name_and_a_header_that_moved_have_their_hint() -> None:
    (found,) = read_diagnostics(BUG_ON, "/tmp/own", SOURCE)
    assert "a socket has 104 bytes for the state, 768 with lab try --kernel large-sockets" in found.line
    assert without_hint(captured("old_names")) == []
    (found,) = captured("old_header")
    assert found.message.endswith("(include <linux/unaligned.h>, since Linux 6.12)")


@pytest.mark.parametrize(
    "line",
    [
        "struct state *ca = inet_csk_ca(sk);",
        "struct state *other, *ca;\n\n\tca = inet_csk_ca(sk);",
        "init((struct state *)inet_csk_ca(sk));",
        "struct state *of(struct sock *sk) { return inet_csk_ca(sk);",
        "state_t *ca = (void *)inet_csk(sk)->icsk_ca_priv;",
    ],
)
def test_the_type_of_a_state_is_found_however_code_reaches_it(line: str) -> None:
    found = {kind for kind, _ in types_of_states(f"static void f(void)\n{{\n\t{line}\n}}\n")}
    assert found & {"state", "state_t"}


@pytest.mark.parametrize("words", ["a", "WRITE_ONCE(", "sk_pacing_rate ", "obj-m := a", "/*", "; /* * "])
def test_a_folder_of_any_words_is_read_in_linear_time(tmp_path: Path, words: str) -> None:
    content = (words * (1_000_000 // len(words))).encode()
    files = {"Kbuild": b"obj-m := own.o\nobj-m += " + content, "own.c": content}
    for name, text in files.items():
        (tmp_path / name).write_bytes(text)
    (source,) = read_sources(tmp_path)
    assert (source.files, source.paces(source.files)) == (files, False)


@pytest.mark.parametrize("words", ["a", "a*", "a *f(", "; ", "a*a ; x = inet_csk_ca(", "x = inet_csk(", "struct "])
def test_a_source_of_any_words_is_searched_for_states_in_linear_time(words: str) -> None:
    assert [*types_of_states(words * (300_000 // len(words)))] == []


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
        ("stddef.h: No such file or directory", "", "(it is a header of programs: the kernel's are <linux/types.h>"),
        ("mystddef.h: No such file or directory", "", "(only headers of the kernel, the module's folder, and slow"),
        ("'struct sock_common' has no member named 'skc_v6_daddr'; did you mean", "", "(this kernel has no IPv6: "),
        ("'const struct tcp_sock' has no member named 'sdev_stats'", "", "(a field of another kernel: Linux 6.12's"),
        ("'struct tcp_sock' has no member named 'srtt'; did", "", "(use tp->srtt_us >> 3, in microseconds, since"),
        ("too few arguments to function '__tcp_send_ack'", "", "(use __tcp_send_ack(sk, rcv_nxt, 0))"),
        ("implicit declaration of function 'tcp_enter_quickack_mode'; did you", "", "(it is the kernel's own: ICSK"),
        ("static declaration of 'tcp_init_cwnd' follows non-static declaration", "", "(the kernel has a function of"),
        ("bpf/bpf_helpers.h: No such file or directory", "", "(it is a header of BPF programs, which are no modules"),
        ("vmlinux.h: No such file or directory", "", "(it is a header of BPF programs, which are no modules"),
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
