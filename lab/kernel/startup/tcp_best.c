// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "best": the kernel's own CUBIC, with BEST in HyStart's place.
 *
 * BEST (best_core.c) says at which window the initial slow start ends.  CUBIC keeps the growth in slow
 * start, congestion avoidance and the reaction to losses.
 *
 * What is approximated, in addition to what the core says
 *
 *  1. ssthresh is set as the window reaches the estimate, not before: the window may be above it by
 *     what one ACK adds.  It is not reduced.
 *  2. Pairs are of ACKs that the sender takes in: what its own interface merges (GRO) is one ACK.
 *  3. A later slow start, after a timeout, knows its threshold and is CUBIC's.
 *  4. Without memory for its state a flow runs plain CUBIC.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#define KERNEL_CUBIC_OPS tcp_best
#include "kernel_cubic.h"

#include <linux/slab.h>

#include "best_core.h"
#include "bounded_param.h"
#include "no_memory_flows.h"
#include "slow_start.h"

static u32 skip_rounds __read_mostly = 3;
BOUNDED_PARAM(skip_rounds, &skip_rounds, BEST_SKIP_ROUNDS_MIN, BEST_SKIP_ROUNDS_MAX, 0644);
MODULE_PARM_DESC(skip_rounds, "rounds before the first one that is measured (0 to 100, default 3)");

NO_MEMORY_FLOWS("plain CUBIC");

/* What a flow keeps in its socket.  CUBIC's part first: inet_csk_ca() is its, too. */
struct best_flow {
	struct bictcp cubic;
	struct best_state *best;	/* NULL: plain CUBIC, also before the handshake's end */
	bool reducing;			/* see slow_start.h */
};

static bool best_measures(const struct sock *sk)
{
	const struct best_flow *ca = inet_csk_ca(sk);

	return ca->best && tcp_sk(sk)->snd_ssthresh >= TCP_INFINITE_SSTHRESH && !tcp_in_cwnd_reduction(sk);
}

/* May come in mid-flow, by setsockopt(): the first round is then what is in flight. */
static void best_init(struct sock *sk)
{
	struct best_flow *ca = inet_csk_ca(sk);

	cubictcp_init(sk);
	ca->reducing = false;
	ca->best = kmalloc(sizeof(*ca->best), GFP_ATOMIC | __GFP_NOWARN);
	if (ca->best)
		best_begin(ca->best, tcp_sk(sk)->snd_nxt);
	else
		no_memory_flow("BEST");
}

/* May come more than once, and for a socket that was never initialised. */
static void best_release(struct sock *sk)
{
	struct best_flow *ca = inet_csk_ca(sk);

	kfree(ca->best);
	ca->best = NULL;
}

static void best_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct best_params params = { .skip_rounds = READ_ONCE(skip_rounds) };
	const struct best_flow *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct best_ack ack = {
		.now_us = tp->tcp_mstamp,
		.snd_una = tp->snd_una,
		.snd_nxt = tp->snd_nxt,
		.acked_bytes = sample->pkts_acked * tp->mss_cache,
		.rtt_us = sample->rtt_us < 0 ? 0 : max(sample->rtt_us, 1),
		.mss_bytes = tp->mss_cache,
	};
	u32 target_pkts;

	cubictcp_acked(sk, sample);
	if (!best_measures(sk))
		return;
	target_pkts = best_on_ack(ca->best, &params, &ack);
	if (!target_pkts || tcp_snd_cwnd(tp) < target_pkts)
		return;
	tp->snd_ssthresh = target_pkts;
	slow_start_left(sk, tcp_snd_cwnd(tp), ack.rtt_us ?: tp->rack.rtt_us, "best");
}

/* A reduction that is undone makes ssthresh infinite again: BEST then starts again. */
static u32 best_ssthresh(struct sock *sk)
{
	struct best_flow *ca = inet_csk_ca(sk);

	slow_start_reducing(sk, &ca->reducing);
	if (ca->best)
		best_begin(ca->best, tcp_sk(sk)->snd_nxt);
	return cubictcp_recalc_ssthresh(sk);
}

static void best_set_state(struct sock *sk, u8 new_state)
{
	struct best_flow *ca = inet_csk_ca(sk);

	slow_start_reduced(sk, new_state, &ca->reducing);
	cubictcp_state(sk, new_state);
}

static struct tcp_congestion_ops tcp_best __read_mostly = {
	.init		= best_init,
	.release	= best_release,
	.ssthresh	= best_ssthresh,
	.cong_avoid	= cubictcp_cong_avoid,
	.set_state	= best_set_state,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cwnd_event	= cubictcp_cwnd_event,
	.pkts_acked	= best_acked,
	.owner		= THIS_MODULE,
	.name		= "best",
};

KERNEL_CUBIC_HOLDS(struct best_flow);

module_init(kernel_cubic_register);
module_exit(kernel_cubic_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP CUBIC with BEST (NetDev 0x16), by descriptions of its paper");
