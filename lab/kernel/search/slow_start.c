// SPDX-License-Identifier: GPL-2.0-or-later
/* The record of slow start's exit, of which every sender of the lab makes use. */
#include <linux/module.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <net/tcp.h>

/* sock_gen_cookie(), which is not exported, in the words of one that is. */
static u64 slow_start_cookie(struct sock *sk)
{
	u32 words[2];

	sock_diag_save_cookie(sk, words);
	return words[0] | (u64)words[1] << 32;
}

#define CREATE_TRACE_POINTS
#include "slow_start_trace.h"

void slow_start_left(struct sock *sk, u32 cwnd_pkts, u32 rtt_us, enum slow_start_cause cause)
{
	trace_slow_start_exit(sk, cwnd_pkts, rtt_us, cause);
}
EXPORT_SYMBOL_GPL(slow_start_left);

void slow_start_reducing(const struct sock *sk, bool *reducing)
{
	/* In recovery and CWR, cwnd below ssthresh is not slow start. */
	*reducing = tcp_in_slow_start(tcp_sk(sk)) && !tcp_in_cwnd_reduction(sk);
}
EXPORT_SYMBOL_GPL(slow_start_reducing);

static enum slow_start_cause slow_start_cause(u8 state)
{
	if (state == TCP_CA_Recovery)
		return SLOW_START_LOSS;
	if (state == TCP_CA_Loss)
		return SLOW_START_TIMEOUT;
	return SLOW_START_OTHER;
}

void slow_start_reduced(struct sock *sk, u8 new_state, bool *reducing)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!*reducing)
		return;
	*reducing = false;
	slow_start_left(sk, tp->prior_cwnd, tp->rack.rtt_us, slow_start_cause(new_state));
}
EXPORT_SYMBOL_GPL(slow_start_reduced);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("The record of exits from TCP slow start, shared by the lab's senders");
