// SPDX-License-Identifier: GPL-2.0-or-later
/* The record of an exit from slow start, which every sender of the lab uses. */
#include <linux/module.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <net/tcp.h>

/* sock_gen_cookie() is not exported; sock_diag_save_cookie() returns the same number. */
static u64 slow_start_cookie(struct sock *sk)
{
	u32 halves[2];

	sock_diag_save_cookie(sk, halves);
	return halves[0] | (u64)halves[1] << 32;
}

#define CREATE_TRACE_POINTS
#include "slow_start_trace.h"

void slow_start_left_ago(struct sock *sk, u32 cwnd_pkts, u32 rtt_us, const char *cause,
			 u64 late_ns)
{
	trace_slow_start_exit(sk, cwnd_pkts, rtt_us, cause, late_ns);
}
EXPORT_SYMBOL_GPL(slow_start_left_ago);

void slow_start_reducing(const struct sock *sk, bool *reducing)
{
	/* In recovery and CWR, cwnd below ssthresh is not slow start. */
	*reducing = tcp_in_slow_start(tcp_sk(sk)) && !tcp_in_cwnd_reduction(sk);
}
EXPORT_SYMBOL_GPL(slow_start_reducing);

const char *slow_start_cause(u8 ca_state)
{
	if (ca_state == TCP_CA_Recovery)
		return "loss";
	if (ca_state == TCP_CA_Loss)
		return "timeout";
	return "other";
}
EXPORT_SYMBOL_GPL(slow_start_cause);

void slow_start_reduced(struct sock *sk, u8 new_state, bool *reducing)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!*reducing)
		return;
	*reducing = false;
	slow_start_left_ago(sk, tp->prior_cwnd, tp->rack.rtt_us, slow_start_cause(new_state), 0);
}
EXPORT_SYMBOL_GPL(slow_start_reduced);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("The record of exits from TCP slow start, which the lab's senders share");
