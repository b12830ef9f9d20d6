// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "copa": Copa (NSDI 2018), by its paper.
 *
 * Copa (copa_core.c) has the window of the whole flow, paced at twice cwnd / RTTstanding.
 *
 * Differences from the paper, in addition to those of the core
 *
 *  1. TCP's recovery does not reduce the window: Copa's rule goes on in it.  A loss counts once per
 *     recovery.
 *  2. A timeout leaves one packet, as for every sender, and slow start begins again.
 *  3. ssthresh has no part in it: it shows where slow start ended.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "bounded_param.h"
#include "copa_core.h"
#include "slow_start.h"
#include "startup_pacing.h"

static u32 inverse_delta __read_mostly = 2;
BOUNDED_PARAM(inverse_delta, &inverse_delta, COPA_INVERSE_DELTA_MIN, COPA_INVERSE_DELTA_MAX, 0644);
MODULE_PARM_DESC(inverse_delta,
		 "1 / delta: packets that a flow keeps in the queue (1 to 64, default 2)");

static u32 competes __read_mostly = 1;
BOUNDED_PARAM(competes, &competes, COPA_COMPETES_MIN, COPA_COMPETES_MAX, 0644);
MODULE_PARM_DESC(competes, "1: with the mode for buffer-filling competitors (0 or 1, default 1)");

/* What a flow keeps in its socket. */
struct copa {
	struct copa_state state;
	bool reducing;		/* see slow_start.h */
};

static struct copa_params copa_params(void)
{
	return (struct copa_params) {
		.inverse_delta = READ_ONCE(inverse_delta),
		.competes = READ_ONCE(competes),
	};
}

static void copa_restart(struct sock *sk)
{
	struct copa_params params = copa_params();
	struct copa *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	copa_begin(&ca->state, &params, tcp_snd_cwnd(tp), tp->snd_nxt);
}

static void copa_init(struct sock *sk)
{
	struct copa *ca = inet_csk_ca(sk);

	ca->reducing = false;
	copa_restart(sk);
	startup_pacing_on(sk);
	if (tcp_sk(sk)->srtt_us)
		startup_pace(sk, tcp_snd_cwnd(tcp_sk(sk)), startup_srtt_us(sk), STARTUP_SLOW_START_PCT);
}

STARTUP_CONG_CONTROL(copa_control)
{
	struct copa_params params = copa_params();
	struct copa *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct copa_ack sample = {
		.now_us = tp->tcp_mstamp,
		.snd_una = tp->snd_una,
		.snd_nxt = tp->snd_nxt,
		.rtt_us = max(rs->rtt_us, 0L),
		.srtt_us = startup_srtt_us(sk),
		.acked_pkts = max(rs->acked_sacked, 0),
		.limited = tcp_is_cwnd_limited(sk),
	};
	u32 before_pkts = tcp_snd_cwnd(tp);

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss && !sample.acked_pkts)
		return;
	if (copa_on_ack(&ca->state, &params, &sample) && tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH) {
		tp->snd_ssthresh = before_pkts;
		slow_start_left(sk, before_pkts, sample.rtt_us ?: tp->rack.rtt_us, "copa");
	}
	tcp_snd_cwnd_set(tp, clamp(copa_cwnd_pkts(&ca->state), 1U, tp->snd_cwnd_clamp));
	startup_pace(sk, tcp_snd_cwnd(tp), copa_standing_rtt_us(&ca->state) ?: startup_srtt_us(sk),
		     STARTUP_SLOW_START_PCT);
	startup_allow_retransmission(sk);
}

static u32 copa_ssthresh(struct sock *sk)
{
	struct copa *ca = inet_csk_ca(sk);

	slow_start_reducing(sk, &ca->reducing);
	copa_lost(&ca->state);
	return max(tcp_snd_cwnd(tcp_sk(sk)), 2U);
}

/* tcp_enter_loss() makes the window of a timeout before it sets the state. */
static void copa_set_state(struct sock *sk, u8 new_state)
{
	struct copa *ca = inet_csk_ca(sk);

	slow_start_reduced(sk, new_state, &ca->reducing);
	if (new_state == TCP_CA_Loss)
		copa_restart(sk);
}

static u32 copa_undo_cwnd(struct sock *sk)
{
	return tcp_snd_cwnd(tcp_sk(sk));
}

static struct tcp_congestion_ops tcp_copa __read_mostly = {
	.init		= copa_init,
	.ssthresh	= copa_ssthresh,
	.cong_control	= copa_control,
	.set_state	= copa_set_state,
	.undo_cwnd	= copa_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "copa",
};

static_assert(sizeof(struct copa) <= ICSK_CA_PRIV_SIZE);

static int __init copa_module_init(void)
{
	return tcp_register_congestion_control(&tcp_copa);
}

static void __exit copa_module_exit(void)
{
	tcp_unregister_congestion_control(&tcp_copa);
}

module_init(copa_module_init);
module_exit(copa_module_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP Copa (NSDI 2018)");
