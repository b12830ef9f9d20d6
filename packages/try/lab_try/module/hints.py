# SPDX-License-Identifier: GPL-2.0-or-later
"""What to do about complaints that users of congestion control modules meet on Linux 6.12.

Each hook and name has the version of Linux since which it is as stated, from the kernel's history; what is older than
4.9 is there because modules of courses and papers are.
"""

import re
from typing import NamedTuple

ONE = r"implicit declaration of function .{}\b|.{}. undeclared"  # a function, or a macro without arguments
FIELD = r"has no member named .{}\W"


class Hook(NamedTuple):
    """A hook of struct tcp_congestion_ops, and since when it has these arguments."""

    signature: str
    since: str | None = None  # None: as long as it exists


class Change(NamedTuple):
    """A pattern of the compiler's message, or of the line that it is about; and what to write."""

    pattern: str
    hint: str
    since: str | None = None
    of_line: str = ""  # what the source line must have, too


HOOKS = {
    "pkts_acked": Hook("void (*)(struct sock *sk, const struct ack_sample *sample)", "4.7"),
    "cong_control": Hook("void (*)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)", "6.10"),
    "cong_avoid": Hook("void (*)(struct sock *sk, u32 ack, u32 acked)", "3.16"),
    "get_info": Hook("size_t (*)(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)", "4.1"),
    "in_ack_event": Hook("void (*)(struct sock *sk, u32 flags)", "3.18"),
    "min_tso_segs": Hook("u32 (*)(struct sock *sk)", "4.16"),
    "sndbuf_expand": Hook("u32 (*)(struct sock *sk)", "4.9"),
    "ssthresh": Hook("u32 (*)(struct sock *sk)"),
    "undo_cwnd": Hook("u32 (*)(struct sock *sk)"),
    "set_state": Hook("void (*)(struct sock *sk, u8 new_state)"),
    "cwnd_event": Hook("void (*)(struct sock *sk, enum tcp_ca_event event)"),
    "init": Hook("void (*)(struct sock *sk)"),
    "release": Hook("void (*)(struct sock *sk)"),
}
SETS_HOOK = re.compile(
    r"(?:\.|->)\s*(\w+)\s*=[^=]|^\s*(\w+)\s*:"
)  # .name = value, the same of a pointer, or name: value
INCOMPATIBLE = re.compile(r"incompatible (pointer type|function pointer)")
OPS = "see struct tcp_congestion_ops in include/net/tcp.h"
CHANGES = (
    Change(
        r"sizeof.*ICSK_CA_PRIV_SIZE|BUILD_BUG_ON failed.*(CA_PRIV|104)",
        "a socket has 104 bytes for the state, 768 with lab try --kernel large-sockets: allocate the rest in init "
        "(kzalloc, GFP_ATOMIC) and free it in release",
    ),
    Change(r"initializer-string for array of .char. is too long", "an algorithm's name has at most 15 characters"),
    Change(r"has no member named .icsk_ca_priv", "use inet_csk_ca(sk)"),
    Change(r"missing MODULE_LICENSE", 'add MODULE_LICENSE("GPL")'),
    Change(
        r"GPL-incompatible module|GPL-only symbol",
        'the kernel gives congestion control to modules of a GPL licence only: MODULE_LICENSE("GPL")',
    ),
    Change(
        r'SSE \w+ .*disabled|x87 .*disabled|"__[a-z]+[sd]f\w*" .*undefined!',
        "the kernel has no floating point: use whole numbers, such as thousandths",
    ),
    Change(
        r'"tcp_(?!register|unregister)\w+".*undefined!', "the kernel does not export this function to modules: copy it"
    ),
    Change(
        r"undefined!",
        "no module may use it: the kernel does not export it, or the file that has it is another module's or missing "
        "in obj-m; several files are one module by my-objs := a.o b.o",
    ),
    # hooks that are gone
    Change(FIELD.format("tso_segs_goal"), "use .min_tso_segs, the least segments of a burst, not its goal", "4.16"),
    Change(FIELD.format("min_cwnd"), "leave it out: there is no .min_cwnd", "3.15"),
    Change(FIELD.format("rtt_sample"), "use .pkts_acked, whose sample has rtt_us", "2.6.22"),
    Change(
        FIELD.format("(tso_segs|skb_marked_lost)"),
        "a hook of the kernel of BBR v2 and v3: Linux 6.12 has .min_tso_segs",
    ),
    Change(r".TCP_CONG_RTT_STAMP. undeclared", "leave it out: each RTT is in microseconds", "3.15"),
    Change(
        r".CA_EVENT_(NON_)?DELAYED_ACK. undeclared", "leave it out: ACKs raise no such event; see .in_ack_event", "4.19"
    ),
    Change(r".CA_EVENT_(FAST|SLOW)_ACK. undeclared", "use .in_ack_event with CA_ACK_SLOWPATH", "3.18"),
    # clocks
    Change(
        ONE.format("tcp_time_stamp", "tcp_time_stamp"),
        "use tcp_jiffies32 for the clock in jiffies, tcp_time_stamp_ms(tp) for one in ms (as tcp_time_stamp(tp) was "
        "from 4.13 to 6.6), tcp_time_stamp_ts(tp) for the TCP option's",
        "4.13",
    ),
    Change(ONE.format("tcp_time_stamp_raw", "tcp_time_stamp_raw"), "use tcp_clock_ms()", "6.7"),
    Change(r"function .skb_mstamp_get\b", "use tp->tcp_mstamp or tcp_clock_us(): stamps are u64 microseconds", "4.13"),
    Change(r"function .skb_mstamp_us_delta\b", "use tcp_stamp_us_delta(later_us, earlier_us) of u64 stamps", "4.13"),
    Change(
        r"storage size of|has incomplete type|request for member .(v64|stamp_us|stamp_jiffies)\W",
        "struct skb_mstamp is gone: stamps such as tp->tcp_mstamp are u64 microseconds",
        "4.13",
        r"skb_mstamp|v64|stamp_us|stamp_jiffies",
    ),
    Change(FIELD.format("skb_mstamp"), "use skb->skb_mstamp_ns, or tcp_skb_timestamp_us(skb)", "4.20"),
    Change(r"function .tcp_skb_timestamp\b", "use tcp_skb_timestamp_us(skb)", "6.7"),
    Change(r"request for member .tv64\W", "a ktime_t is a number: ktime_to_ns(t), ktime_to_us(t)", "4.10"),
    Change(r"function .(do_gettimeofday|getnstimeofday)\b", "use ktime_get(), or ktime_get_real_ts64()", "5.0"),
    Change(
        r"function .(get_seconds|current_kernel_time|getrawmonotonic)\b", "use ktime_get_real_seconds(), ktime_get()"
    ),
    Change(
        r"function .ktime_to_time(spec|val)\b|function .timespec_\w+\b",
        "use ktime_to_timespec64(), ktime_to_us()",
        "5.6",
    ),
    Change(
        r"storage size of|has incomplete type", "use struct timespec64 or ktime_t", "5.6", r"struct time(val|spec)\b"
    ),
    Change(r"function .(setup|init)_timer\b", "use timer_setup(timer, function, 0): it takes the timer", "4.15"),
    Change(r"timer_list. has no member named .data\W", "use from_timer() in the timer's function", "4.15"),
    # fields of a socket
    Change(r"subscripted value is neither", "use tcp_min_rtt(tp), or minmax_get(&tp->rtt_min)", "4.9", r"rtt_min\["),
    Change(FIELD.format("srtt"), "use tp->srtt_us >> 3, in microseconds", "3.15"),
    Change(FIELD.format("mdev"), "use tp->mdev_us, in microseconds times 4", "3.15"),
    Change(FIELD.format("rtt"), "use rcv_rtt_est.rtt_us, in microseconds times 8", "4.13", "rcv_rtt_est"),
    Change(FIELD.format("fackets_out"), "leave it out: FACK is gone", "4.15"),
    Change(r"function .tcp_is_fack\b", "leave it out: FACK is gone", "4.15"),
    Change(FIELD.format("in_flight"), "a field of the kernel of BBR v2 and v3: keep it in your own state", None, "tx"),
    Change(
        FIELD.format("(skc|sk)_v6_daddr|pinet6"), "this kernel has no IPv6: put it below #if IS_ENABLED(CONFIG_IPV6)"
    ),
    Change(r".tcp_sock. has no member", "a field of another kernel: Linux 6.12's are in include/linux/tcp.h"),
    Change(r".rate_sample. has no member", "a field of another kernel: Linux 6.12's are in include/net/tcp.h"),
    Change(r".ack_sample. has no member", "a sample has pkts_acked, rtt_us and in_flight", "4.8"),
    Change(
        r"format .%u. expects.*long unsigned",
        "print it with %lu: sk_pacing_rate is unsigned long",
        "4.20",
        "pacing_rate",
    ),
    Change(
        r"discards .const. qualifier",
        "tcp_sk() keeps const: take a const struct tcp_sock *, or a struct sock * that is not const",
        "6.4",
        r"tcp_sk\s*\(",
    ),
    Change(
        r".sysctl_tcp_\w+. undeclared", "each network has its own: READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_...)", "4.15"
    ),
    # functions
    Change(r"arguments to function .tcp_slow_start\W", "use acked = tcp_slow_start(tp, acked)", "3.13"),
    Change(r"arguments to function .tcp_cong_avoid_ai\W", "use tcp_cong_avoid_ai(tp, w, acked)", "3.19"),
    Change(r"arguments to function .tcp_is_cwnd_limited\W", "use tcp_is_cwnd_limited(sk)", "3.16"),
    Change(r"arguments to function .tcp_reno_cong_avoid\W", "use tcp_reno_cong_avoid(sk, ack, acked)", "3.16"),
    Change(r"arguments to function .__tcp_send_ack\W", "use __tcp_send_ack(sk, rcv_nxt, 0)"),
    Change(
        r"function .tcp_enter_quickack_mode\b",
        "it is the kernel's own: ICSK_ACK_NOW in inet_csk(sk)->icsk_ack.pending requests an ACK at once",
    ),
    Change(
        r"static declaration of .*follows non-static", "the kernel has a function of this name: name yours otherwise"
    ),
    Change(
        r"function .(NET|TCP)_(INC|ADD)_STATS_BH\b", "use __NET_INC_STATS and the like, with __ and without _BH", "4.7"
    ),
    Change(r"function .(NET|TCP)_(INC|ADD)_STATS_USER\b", "use NET_INC_STATS and the like, without _USER", "4.7"),
    Change(r"function .tcp_tso_autosize\b", "compute it as bbr_tso_segs_goal of net/ipv4/tcp_bbr.c does", "4.16"),
    Change(r"function .tcp_for_write_queue\w*", "sent packets are in tcp_rtx_queue_head(sk), a tree", "4.15"),
    Change(r"function .[gs]et_(fs|ds)\b|.KERNEL_DS. undec|name .mm_segm", "use kernel_read(), kernel_write()", "5.18"),
    Change(r"function .prandom_bytes\b", "use get_random_bytes()", "6.1"),
    Change(r"function .prandom_u32_max\b", "use get_random_u32_below(limit)", "6.2"),
    Change(r"function .prandom_u32\b", "use get_random_u32()", "6.1"),
    Change(r"function .(get_random_int|net_random|random32)\b", "use get_random_u32()"),
    Change(r"function .ACCESS_ONCE\b", "use READ_ONCE() and WRITE_ONCE()", "4.15"),
    Change(r"function .strlcpy\b", "use strscpy()", "6.8"),
    Change(r"function .PDE_DATA\b", "use pde_data()", "5.17"),
    Change(
        INCOMPATIBLE.pattern, "give it a struct proc_ops, not file_operations", "5.6", r"\bproc_create(_data)?\s*\("
    ),
    Change(r"function .register_sysctl_table\b", "use register_net_sysctl(net, path, table)", "6.6"),
    Change(r"macro .access_ok. passed 3 arguments", "use access_ok(address, size)", "5.0"),
    Change(r"function .(un)?register_jprobe\b", "use a kprobe, or the tracepoint tcp_probe", "4.19"),
    Change(r"storage size of", "use a kprobe, or the tracepoint tcp_probe", "4.19", "struct jprobe"),
    Change(
        r"function .(un)?register_kfunc_btf_id_set\b|DEFINE_KFUNC_BTF_ID_SET",
        "use register_btf_kfunc_id_set(BPF_PROG_TYPE_STRUCT_OPS, &set), or leave it out: only BPF needs it",
        "5.18",
    ),
    Change(FIELD.format("check_set"), "use .set, between BTF_KFUNCS_START and BTF_KFUNCS_END, or leave it out", "6.0"),
    Change(r"before string constant", "leave MODULE_SUPPORTED_DEVICE out", "5.12", "MODULE_SUPPORTED_DEVICE"),
    Change(r"stdarg\.h: No such file", "include <linux/stdarg.h>", "5.16"),
    Change(r"asm/unaligned\.h: No such file", "include <linux/unaligned.h>", "6.12"),
    Change(INCOMPATIBLE.pattern + r".*\(\*\)|\(\*\).*" + INCOMPATIBLE.pattern, OPS),
    Change(
        r"(vmlinux|bpf\w*)\.h: No such",
        "it is a header of BPF programs, which are no modules: write the hooks in a kernel module",
    ),
    Change(
        r"\b(std(def|int|io|lib|bool)|string|math|limits|errno|assert|time|unistd)\.h: No such",
        "it is a header of programs: the kernel's are <linux/types.h>, <linux/string.h>, <linux/kernel.h>",
    ),
    Change(
        r"No such file or directory",
        "only headers of the kernel, the module's folder, and slow_start.h are there: what a script of its Makefile "
        "writes has to be there before",
    ),
    Change(r"No rule to make target .*\.o'", "obj-m names it, and no .c file of the folder makes it"),
)
COMPILED = [(re.compile(each.pattern), re.compile(each.of_line), each) for each in CHANGES]


def hint_of(message: str, line: str = "") -> str:
    """Return the hint for a message about a line of the source, in brackets; empty where none is known."""
    if INCOMPATIBLE.search(message) and (hook := _hook(line)):
        return hook
    found = (each for pattern, of_line, each in COMPILED if pattern.search(message) and of_line.search(line))
    return next((f" ({each.hint}{_since(each.since)})" for each in found), "")


def _hook(line: str) -> str:
    """Return the right arguments of the hook that a line sets."""
    for found in SETS_HOOK.finditer(line):
        name = found[1] or found[2]
        if name in HOOKS:
            return f" (.{name} is {HOOKS[name].signature}{_since(HOOKS[name].since)})"
    return ""


def _since(version: str | None) -> str:
    return f", since Linux {version}" if version else ""
