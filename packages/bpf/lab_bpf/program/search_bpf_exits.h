/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exits from slow start, as slow_start.h has them for modules.  The newest SEARCH_BPF_EXITS are
 * kept in a map, which `lab senders exits` reads.
 */
#ifndef SEARCH_BPF_EXITS_H
#define SEARCH_BPF_EXITS_H

#define SEARCH_BPF_EXITS	1024

enum search_bpf_cause {	/* packages/bpf/lab_bpf/node/loader.py has the same */
	SEARCH_BPF_SEARCH,
	SEARCH_BPF_LOSS,
	SEARCH_BPF_TIMEOUT,
	SEARCH_BPF_OTHER,
};

struct search_bpf_exit {
	__u64 t_ns;		/* CLOCK_MONOTONIC */
	__u64 number;		/* of exits since the load, from 1; 0: none yet */
	__u32 cwnd_pkts;	/* before any reduction */
	__u32 ssthresh_pkts;
	__u32 rtt_us;
	__u32 cause;		/* enum search_bpf_cause */
	__u16 sport;
	__u16 dport;
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SEARCH_BPF_EXITS);
	__type(key, __u32);
	__type(value, struct search_bpf_exit);
} search_exits SEC(".maps");

static __u64 search_bpf_exit_count;

static void search_bpf_report(struct sock *sk, __u32 cwnd_pkts, __u32 rtt_us,
			      enum search_bpf_cause cause)
{
	__u64 number = __sync_fetch_and_add(&search_bpf_exit_count, 1);
	__u32 place = number % SEARCH_BPF_EXITS;
	struct search_bpf_exit left = {
		.t_ns = bpf_ktime_get_ns(),
		.number = number + 1,
		.cwnd_pkts = cwnd_pkts,
		.ssthresh_pkts = tcp_sk(sk)->snd_ssthresh,
		.rtt_us = rtt_us,
		.cause = cause,
		.sport = sk->__sk_common.skc_num,
		.dport = __builtin_bswap16(sk->__sk_common.skc_dport),
	};

	bpf_map_update_elem(&search_exits, &place, &left, BPF_ANY);
}

/* SEARCH's own rule is the only cause that is named by its sender. */
#define slow_start_left(sk, cwnd_pkts, rtt_us, cause) \
	search_bpf_report(sk, cwnd_pkts, rtt_us, SEARCH_BPF_SEARCH)

static enum search_bpf_cause slow_start_cause(__u8 ca_state)
{
	if (ca_state == TCP_CA_Recovery)
		return SEARCH_BPF_LOSS;
	return ca_state == TCP_CA_Loss ? SEARCH_BPF_TIMEOUT : SEARCH_BPF_OTHER;
}

static void slow_start_reduced(struct sock *sk, __u8 new_state, bool *reducing)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!*reducing)
		return;
	*reducing = false;
	search_bpf_report(sk, tp->prior_cwnd, tp->rack.rtt_us, slow_start_cause(new_state));
}

#endif /* SEARCH_BPF_EXITS_H */
