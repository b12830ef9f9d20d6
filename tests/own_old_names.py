# SPDX-License-Identifier: GPL-2.0-or-later
"""What the hint of each old hook and name must say: by the line of tests/data/own/old_names.c that has it."""

from pathlib import Path

from lab_try.module.diagnostics import Diagnostic

OLD = Path(__file__).parent / "data" / "own"
HINTS = {
    ".pkts_acked": "(.pkts_acked is void (*)(struct sock *sk, const struct ack_sample *sample), since Linux 4.7)",
    ".cong_control": "u32 ack, int flag, const struct rate_sample *rs), since Linux 6.10)",
    ".cong_avoid": "(.cong_avoid is void (*)(struct sock *sk, u32 ack, u32 acked), since Linux 3.16)",
    ".ssthresh": "(.ssthresh is u32 (*)(struct sock *sk))",
    ".get_info": "size_t (*)(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info), since Linux 4.1)",
    ".in_ack_event": "(.in_ack_event is void (*)(struct sock *sk, u32 flags), since Linux 3.18)",
    ".set_state": "(.set_state is void (*)(struct sock *sk, u8 new_state))",
    ".undo_cwnd": "(.undo_cwnd is u32 (*)(struct sock *sk))",
    ".init ": "(.init is void (*)(struct sock *sk))",
    ".release": "(.release is void (*)(struct sock *sk))",
    ".sndbuf_expand": "(.sndbuf_expand is u32 (*)(struct sock *sk), since Linux 4.9)",
    ".min_tso_segs": "(.min_tso_segs is u32 (*)(struct sock *sk), since Linux 4.16)",
    ".cwnd_event": "(.cwnd_event is void (*)(struct sock *sk, enum tcp_ca_event event))",
    ".tso_segs_goal": "use .min_tso_segs, the least segments of a burst, not its goal, since Linux 4.16",
    ".tso_segs ": "a hook of the kernel of BBR v2 and v3",
    ".skb_marked_lost": "a hook of the kernel of BBR v2 and v3",
    ".min_cwnd": "there is no .min_cwnd, since Linux 3.15",
    ".rtt_sample": "use .pkts_acked",
    "TCP_CONG_RTT_STAMP": "leave it out: each RTT is in microseconds, since Linux 3.15",
    "old_time_stamp(": "use tcp_jiffies32",
    "old_time_stamp_of(": "tcp_time_stamp_ts(tp) for the TCP option's, since Linux 4.13",
    "old_time_stamp_raw(": "use tcp_clock_ms(), since Linux 6.7",
    "NET_INC_STATS_BH": "use __NET_INC_STATS and the like, with __ and without _BH, since Linux 4.7",
    "NET_ADD_STATS_BH": "since Linux 4.7",
    "TCP_INC_STATS_BH": "since Linux 4.7",
    "old_mstamp(": "struct skb_mstamp is gone",
    "old_mstamp_delta(": "use tcp_stamp_us_delta(later_us, earlier_us) of u64 stamps, since Linux 4.13",
    "old_v64(": "stamps such as tp->tcp_mstamp are u64 microseconds, since Linux 4.13",
    "old_stamp_us(": "struct skb_mstamp is gone",
    "old_skb_mstamp(": "use skb->skb_mstamp_ns, or tcp_skb_timestamp_us(skb), since Linux 4.20",
    "old_skb_timestamp(": "use tcp_skb_timestamp_us(skb), since Linux 6.7",
    "old_min_rtt(": "use tcp_min_rtt(tp), or minmax_get(&tp->rtt_min), since Linux 4.9",
    "old_srtt(": "use tp->srtt_us >> 3",
    "old_mdev(": "use tp->mdev_us",
    "old_slow_start(": "use acked = tcp_slow_start(tp, acked)",
    "old_ai(": "use tcp_cong_avoid_ai(tp, w, acked)",
    "old_limited(": "use tcp_is_cwnd_limited(sk)",
    "old_may_raise(": "use tcp_reno_cong_avoid(sk, ack, acked)",
    "old_prandom(": "use get_random_u32(), since Linux 6.1",
    "old_prandom_max(": "use get_random_u32_below(limit), since Linux 6.2",
    "old_random_int(": "use get_random_u32()",
    "old_net_random(": "use get_random_u32()",
    "old_random32(": "use get_random_u32()",
    "ACCESS_ONCE": "use READ_ONCE() and WRITE_ONCE(), since Linux 4.15",
    "old_timeval(": "use ktime_get(), or ktime_get_real_ts64(), since Linux 5.0",
    "old_timespec(": "use struct timespec64 or ktime_t, since Linux 5.6",
    "old_tv64(": "a ktime_t is a number",
    "old_setup_timer(": "use timer_setup(timer, function, 0): it takes the timer, since Linux 4.15",
    "old_init_timer(": "use from_timer() in the timer's function, since Linux 4.15",
    "old_event(": "see .in_ack_event, since Linux 4.19",
    "old_const(": "tcp_sk() keeps const",
    "old_sample_field(": "a sample has pkts_acked, rtt_us and in_flight",
    "old_rs_field(": "a field of another kernel",
    "old_strlcpy(": "use strscpy(), since Linux 6.8",
    "old_pde(": "use pde_data(), since Linux 5.17",
    "old_pacing(": "print it with %lu: sk_pacing_rate is unsigned long, since Linux 4.20",
    "old_tx(": "a field of the kernel of BBR v2 and v3",
    "old_cwnd_min(": "each network has its own",
    "old_wmem(": "each network has its own",
    "old_rcv(": "use rcv_rtt_est.rtt_us",
    "old_fackets(": "FACK is gone, since Linux 4.15",
    "old_fack(": "FACK is gone",
    "old_ca_priv(": "use inet_csk_ca(sk)",
    "old_kill(": "use a kprobe, or the tracepoint tcp_probe, since Linux 4.19",
    "old_autosize(": "compute it as bbr_tso_segs_goal of net/ipv4/tcp_bbr.c does, since Linux 4.16",
    "old_set_fs(": "use kernel_read(), kernel_write(), since Linux 5.18",
    "old_queue(": "sent packets are in tcp_rtx_queue_head(sk), a tree, since Linux 4.15",
    ".check_set": "use .set, between BTF_KFUNCS_START and BTF_KFUNCS_END, or leave it out, since Linux 6.0",
    "MODULE_SUPPORTED_DEVICE": "leave MODULE_SUPPORTED_DEVICE out, since Linux 5.12",
    "register_kfunc_btf_id_set": "use register_btf_kfunc_id_set(BPF_PROG_TYPE_STRUCT_OPS, &set)",
}


def without_hint(found: list[Diagnostic]) -> list[str]:
    """Return the lines of old_names.c whose complaints have not the hint that they must have."""
    lines = (OLD / "old_names.c").read_text().split("\n")
    messages = {key: [each.message for each in found if key in lines[each.line_number - 1]] for key in HINTS}
    return [f"{key}: {messages[key]}" for key, words in HINTS.items() if not any(words in one for one in messages[key])]
