# SPDX-License-Identifier: GPL-2.0-or-later
"""Congestion controls as users write them: one that works, and one for each mistake."""

from pathlib import Path

from tests.brief import put

HEAD = """// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/tcp.h>
"""
REGISTER = """
static int __init own_init(void)
{
	return tcp_register_congestion_control(&own);
}
module_init(own_init);
"""
UNREGISTER = """
static void __exit own_exit(void)
{
	tcp_unregister_congestion_control(&own);
}
module_exit(own_exit);
"""
LICENCE = 'MODULE_LICENSE("GPL");\n'
OPS = {"ssthresh": "tcp_reno_ssthresh", "cong_avoid": "tcp_reno_cong_avoid", "undo_cwnd": "tcp_reno_undo_cwnd"}


def source(name: str = "own", code: str = "", end: str = REGISTER + UNREGISTER + LICENCE, **ops: str | None) -> str:
    """Return the source of a module: `code` before its table of hooks; an op that is None is left out."""
    hooks = {hook: function for hook, function in (OPS | ops).items() if function}
    table = "".join(f"\t.{hook} = {function},\n" for hook, function in hooks.items())
    ops_table = f'static struct tcp_congestion_ops own = {{\n{table}\t.owner = THIS_MODULE,\n\t.name = "{name}",\n}};\n'
    return HEAD + code + ops_table + end


def hook(body: str) -> str:
    return f"static void hook(struct sock *sk, u32 ack, u32 acked)\n{{\n\t{body}\n}}\n"


def start(body: str) -> str:
    """Return an init or release hook."""
    return f"static void hook(struct sock *sk)\n{{\n\t{body}\n}}\n"


def acking(body: str) -> str:
    """Return the source of a module whose cong_avoid hook is given."""
    return source(code=hook(body), cong_avoid="hook")


def at(name: str, body: str) -> str:
    """Return the source of a module whose init or release hook is given."""
    return source(code=start(body), **{name: "hook"})


def written(folder: Path, content: str, name: str = "own.c") -> Path:
    return put(folder / name, content)


REPORTING = source(
    code='#include "slow_start.h"\n'
    + hook(
        """struct tcp_sock *tp = tcp_sk(sk);

	tcp_reno_cong_avoid(sk, ack, acked);
	if (tcp_in_slow_start(tp) && tcp_snd_cwnd(tp) >= 64) {
		tp->snd_ssthresh = tcp_snd_cwnd(tp);
		slow_start_left(sk, tcp_snd_cwnd(tp), tp->rack.rtt_us, "window_of_64");
	}"""
    ),
    cong_avoid="hook",
)
CRASHES_LATE = acking("""tcp_reno_cong_avoid(sk, ack, acked);
	if (tcp_sk(sk)->delivered > 3000)
		*(volatile int *)8 = 1;""")
SLEEPS_LATE = (
    "if (ktime_get_seconds() > 500) {\n\t\tmsleep(100000000);\n\t\tbarrier();\n\t}"  # a trial's clock begins at 512
)

NULL = "*(volatile int *)8 = 1;"
STATE = "struct state {\n\tchar bytes[200];\n};\n"
LARGE = "has 200 bytes: must have at most 104 bytes"
# What a build refuses, and in which line.
UNBUILDABLE = {
    "not C": ("this is not C\n", r"own\.c:1:1: error: unknown type name 'this'"),
    "a place that a directive forges": (
        '#line 7 "other.c"\n /* 3 */ # 900 "other.c"\nthis is not C\n',
        r"own\.c:3:1: error: unknown type name 'this'",
    ),
    "a name of 23 characters": (
        source(name="a_name_that_is_too_long"),
        r"own\.c:\d+:\d+: error: .*at most 15 characters",
    ),
    "200 bytes of state": (
        source(
            code="struct state {\n\tchar bytes[200];\n};\n"
            + start("struct state *s = inet_csk_ca(sk);\n\n\ts->bytes[0] = 1;"),
            init="hook",
        ),
        r"own\.c:11:\d+: error: struct state has 200 bytes: must have at most 104 bytes",
    ),
    "200 bytes by a variable that is set later": (
        source(code=STATE + start("struct state *s;\n\n\ts = inet_csk_ca(sk);\n\ts->bytes[0] = 1;"), init="hook"),
        rf"own\.c:13:\d+: error: struct state {LARGE}",
    ),
    "200 bytes by a cast": (
        source(
            code=f"{STATE}#define OF(sk) ((struct state *)inet_csk_ca(sk))\n" + start("OF(sk)->bytes[0] = 1;"),
            init="hook",
        ),
        rf"own\.c:9:\d+: error: struct state {LARGE}",
    ),
    "200 bytes by a function": (
        source(
            code=f"{STATE}static struct state *of(struct sock *sk)\n{{\n\treturn inet_csk_ca(sk);\n}}\n"
            + start("of(sk)->bytes[0] = 1;"),
            init="hook",
        ),
        rf"own\.c:9:\d+: error: struct state {LARGE}",
    ),
    "200 bytes by the socket's own field": (
        source(
            code=STATE + start("struct state *s = (void *)inet_csk(sk)->icsk_ca_priv;\n\n\ts->bytes[0] = 1;"),
            init="hook",
        ),
        rf"own\.c:11:\d+: error: struct state {LARGE}",
    ),
    "200 bytes of a type": (
        source(
            code="typedef struct {\n\tchar bytes[200];\n} state_t;\n"
            + start("state_t *s = inet_csk_ca(sk);\n\n\ts->bytes[0] = 1;"),
            init="hook",
        ),
        rf"own\.c:11:\d+: error: struct state_t {LARGE}",
    ),
    "cong_control of before Linux 6.10": (
        source(
            code="static void old(struct sock *sk, const struct rate_sample *rs)\n{\n}\n",
            cong_control="old",
            cong_avoid=None,
        ),
        r"own\.c:\d+:\d+: error: .*incompatible pointer type.*const struct rate_sample \*rs\), since Linux 6\.10",
    ),
    "floating point": (
        acking("double share = tcp_snd_cwnd(tcp_sk(sk)) * 1.5;\n\n\ttcp_sk(sk)->snd_cwnd = (u32)share;"),
        r"own\.c:10:\d+: error: SSE .* disabled .*no floating point",
    ),
    "no licence": (
        source(end=REGISTER + UNREGISTER),
        r'own\.c: error: missing MODULE_LICENSE.*add MODULE_LICENSE\("GPL"\)',
    ),
    "a header that is not there": (
        '#include "nowhere.h"\n' + source(),
        r"own\.c:1:10: error: nowhere\.h: No such file",
    ),
    "a function that nobody has": (
        source(code="extern void nothing(void);\n" + start("nothing();"), init="hook"),
        r'own\.c: error: "nothing" \[own\.ko\] undefined!',
    ),
}
# What a smoke test refuses.
FAULTY = {
    "a section of the kernel's": (
        source(code='static char kept[2] __used __section(".gnu.linkonce.this_module");\n'),
        r"loading: insmod.*Invalid module format; kernel: silent: it was built for another kernel",
    ),
    "no cong_avoid": (
        source(cong_avoid=None),
        r"own\.c: smoke test: loading: .*does not implement required ops: ssthresh, undo_cwnd, and cong_avoid or",
    ),
    "a name that is taken": (source(name="cubic"), r"loading: .*cubic already registered.*its name is taken"),
    "nothing registered": (
        HEAD + "static int __init own_init(void)\n{\n\treturn 0;\n}\nmodule_init(own_init);\n" + LICENCE,
        r"loading: module own: algorithms=none: must register a congestion control",
    ),
    "NULL in init": (at("init", NULL), r"own\.c:8: .*a bad pointer .*in hook\+0x"),
    "NULL in a hook": (acking(NULL), r"own\.c:8: .*a bad pointer .*in hook\+0x"),
    "NULL in release": (at("release", NULL), r"own\.c:8: .*a bad pointer .*in hook\+0x"),
    "an endless loop in a hook": (
        acking("for (;;)\n\t\tbarrier();"),
        r"own\.c:\d+: .*a hook does not return, in hook\+0x\w+: virtual kernel: no end after \d+ s of processor time",
    ),
    "memory that grows without end": (
        acking(
            "void *p;\n\n\tdo {\n\t\tp = kzalloc(1 << 22, GFP_ATOMIC);\n\t} while (p);\n"
            "\ttcp_reno_cong_avoid(sk, ack, acked);"
        ),
        r"the kernel's memory is used up",
    ),
    "a BUG_ON": (acking("BUG_ON(acked);"), r"own\.c:8: .*: BUG: BUG\(\) or BUG_ON\(\) in hook, in hook(\.cold)?\+0x"),
    "a WARN_ON": (acking("WARN_ON(acked > 0);"), r"own\.c:8: .*: WARNING: acked > 0, in hook(\.cold)?\+0x"),
    "a WARN of the kernel's own": (
        acking("tcp_snd_cwnd_set(tcp_sk(sk), acked - acked);"),
        r"while it ran: WARNING: \(int\)val <= 0, in hook(\.cold)?\+0x",
    ),
    "cwnd 0": (acking("tcp_sk(sk)->snd_cwnd = 0;"), r"own: cwnd_pkts=0: must be at least 1"),
    "cwnd huge": (acking("tcp_sk(sk)->snd_cwnd = 1U << 30;"), r"own: cwnd_pkts=1073741824: must be at most 1000000"),
    "an init that fails": (
        source(
            end=REGISTER.replace("return tcp_register_congestion_control(&own)", "return -EINVAL")
            + UNREGISTER
            + LICENCE
        ),
        r"loading: insmod .*could not insert module.*its module_init returned this error",
    ),
    "an init without end": (
        source(end=REGISTER.replace("return", "for (;;)\n\t\tbarrier();\n\treturn") + UNREGISTER + LICENCE),
        r"own\.c:\d+: smoke test: loading: a hook does not return, in own_init\+0x",
    ),
    "a release hook without end": (
        at("release", "for (;;)\n\t\tbarrier();"),
        r"own\.c:\d+: smoke test: a flow of own: a hook does not return, in hook\+0x",
    ),
    "unregistered twice": (
        source(
            end=REGISTER
            + UNREGISTER.replace("(&own);", "(&own);\n\ttcp_unregister_congestion_control(&own);")
            + LICENCE
        ),
        r"unloading: a bad pointer",
    ),
    "a state that is freed": (at("release", "kfree(inet_csk_ca(sk));"), r"a bad pointer"),
    "a constant division by zero": (
        acking("tcp_sk(sk)->snd_cwnd /= (acked - acked);"),
        r"an illegal instruction, as a constant division by zero becomes",
    ),
    "a power-off": (
        "#include <linux/reboot.h>\n" + acking("kernel_power_off();"),
        r"virtual kernel: exit status 0.*something ended the kernel|a hook that sleeps",
    ),
    "a name with a slash": (source(name="../x"), r"name='\.\./x': must be letters, digits and _ \. - only"),
    "a name with a space": (source(name="my cc"), r"name=cc: .*: must be letters, digits and _ \. - only"),
    "a timer that it leaves": (
        source(
            code="static void tick(struct timer_list *timer)\n{\n\tmod_timer(timer, jiffies + 1);\n}\n"
            "static DEFINE_TIMER(left, tick);\n" + start("mod_timer(&left, jiffies + 1);"),
            init="hook",
        ),
        r"unloading: a bad pointer",
    ),
    "no module_exit": (source(end=REGISTER + LICENCE), r"unloading: .*it has no module_exit"),
}
# What only the sanitized kernel's checks notice.
UNCLEAN = {
    "a write beyond the end": (
        at("init", "char *p = kmalloc(32, GFP_ATOMIC);\n\n\tif (p)\n\t\t((volatile char *)p)[40] = 1;\n\tkfree(p);"),
        r"own\.c:\d+: smoke test in the sanitized kernel: .*BUG: KASAN: slab-out-of-bounds.*in hook\+0x",
    ),
    "a write after free": (
        at("init", "char *p = kmalloc(32, GFP_ATOMIC);\n\n\tkfree(p);\n\tif (p)\n\t\t((volatile char *)p)[3] = 1;"),
        r"own\.c:\d+: .*BUG: KASAN: slab-use-after-free",
    ),
    "a hook that sleeps": (acking("msleep(1);"), r"a hook that sleeps"),
    "memory that nobody frees": (
        at("init", "void *p = kzalloc(64, GFP_ATOMIC);\n\n\tWRITE_ONCE(tcp_sk(sk)->snd_ssthresh, p ? 64 : 32);"),
        r"memory that neither release nor the module's exit frees",
    ),
}
