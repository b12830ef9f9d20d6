/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BBR's core as a sender of TCP: tcp_bbr3.c, whose story this is, and tcp_leocc.c, which changes the model.
 *
 * Before including, define pr_fmt and
 *
 *	BBR3_TCP_OPS	the name of the sender's hooks
 *	BBR3_TCP_NAME	the sender's name
 *	BBR3_TCP_STATE	the type of a flow's state, which begins with a struct bbr3_state
 *
 * and after it the three functions bbr3_model_*() below.
 */
#ifndef BBR3_TCP_H
#define BBR3_TCP_H

#include <linux/module.h>
#include <linux/random.h>

#include "bbr3_core.h"
#include "bounded_param.h"
#include "sent_core.h"
#include "slow_start.h"
#define STARTUP_HEAP_OPS BBR3_TCP_OPS
#include "startup_heap.h"
#include "startup_pacing.h"

#define BBR3_PARAM(name, NAME, initial)				\
	static u32 name __read_mostly = initial;		\
	BOUNDED_PARAM(name, &name, BBR3_##NAME##_MIN, BBR3_##NAME##_MAX, 0644)

BBR3_PARAM(growth_pct, GROWTH_PCT, 25);
MODULE_PARM_DESC(growth_pct, "less growth of the delivery rate in a round is none (1 to 100, default 25)");

BBR3_PARAM(full_rounds, FULL_ROUNDS, 3);
MODULE_PARM_DESC(full_rounds, "rounds without growth that fill the pipe (1 to 100, default 3)");

BBR3_PARAM(loss_pct, LOSS_PCT, 2);
MODULE_PARM_DESC(loss_pct, "the most loss while probing, in percent (1 to 50, default 2)");

BBR3_PARAM(loss_ranges, LOSS_RANGES, 6);
MODULE_PARM_DESC(loss_ranges, "ranges lost in a round that end Startup (1 to 200, default 6)");

struct bbr3_flow {
	BBR3_TCP_STATE state;
	struct sent_state sent;
	u32 lost;		/* tp->lost, of which BBR knows */
	u32 lost_seq;		/* lost packets before it were reported */
};

static struct bbr3_params bbr3_params(void)
{
	return (struct bbr3_params) {
		.growth_pct = READ_ONCE(growth_pct),
		.full_rounds = READ_ONCE(full_rounds),
		.loss_pct = READ_ONCE(loss_pct),
		.loss_ranges = READ_ONCE(loss_ranges),
	};
}

static struct bbr3_flow *bbr3_flow(const struct sock *sk)
{
	return startup_flow(sk);
}

static struct bbr3_state *bbr3_state(struct bbr3_flow *flow)
{
	return (struct bbr3_state *)&flow->state;
}

/* Of the sender. */
static void bbr3_model_begin(struct bbr3_flow *flow, const struct bbr3_start *start);
static void bbr3_model_lost(struct bbr3_flow *flow, const struct bbr3_loss *loss);
static u32 bbr3_model_on_ack(struct bbr3_flow *flow, const struct bbr3_ack *ack);

static void bbr3_pace(struct sock *sk)
{
	u64 bytes = (u64)tcp_mss_to_mtu(sk, tcp_sk(sk)->mss_cache) * USEC_PER_SEC;
	u64 rate = mul_u64_u64_shr(bbr3_state(bbr3_flow(sk))->pacing_rate, bytes, BBR3_RATE_BITS);

	WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, max(rate, 1ULL), READ_ONCE(sk->sk_max_pacing_rate)));
}

static void bbr3_begin_flow(struct sock *sk, struct bbr3_flow *flow)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct bbr3_start start = {
		.now_us = tp->tcp_mstamp,
		.smss = 1,
		.most_quantum = max(SZ_64K / tp->mss_cache, 2U),
		.budget_quanta = 3,
		.cwnd = tcp_snd_cwnd(tp),
		.srtt_us = startup_srtt_us(sk),
		.delivered = tp->delivered,
		.selective_acks = tcp_is_sack(tp),
		.seed = get_random_u32(),
	};

	bbr3_model_begin(flow, &start);
	sent_note(&flow->sent, tp->delivered, tp->lost, tcp_packets_in_flight(tp), 0);
	flow->lost = tp->lost;
	flow->lost_seq = tp->snd_una;
}

static void bbr3_init(struct sock *sk)
{
	struct bbr3_flow *flow = startup_allocate(sk, sizeof(*flow));

	if (!flow)
		return;
	bbr3_begin_flow(sk, flow);
	startup_pacing_on(sk);
	bbr3_pace(sk);
}

static struct bbr3_sent bbr3_sent(const struct bbr3_flow *flow, u32 delivered, bool app_limited)
{
	struct sent_entry entry = sent_find(&flow->sent, delivered);

	return (struct bbr3_sent) { delivered, entry.lost, entry.inflight, app_limited };
}

/* @pkts that were sent when @delivered were, are lost. */
static void bbr3_report_loss(struct sock *sk, u32 pkts, u32 delivered, bool app_limited)
{
	struct bbr3_flow *flow = bbr3_flow(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct bbr3_loss loss;

	flow->lost += pkts;
	loss = (struct bbr3_loss) {
		.now_us = tp->tcp_mstamp,
		.delivered = tp->delivered,
		.lost = flow->lost,
		.cwnd = tcp_snd_cwnd(tp),
		.size = pkts,
		.packet = bbr3_sent(flow, delivered, app_limited),
	};
	bbr3_model_lost(flow, &loss);
}

/* What was marked since the last call, and was lost for the first time. */
static void bbr3_report_marked(struct sock *sk)
{
	struct bbr3_flow *flow = bbr3_flow(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb = tcp_rtx_queue_head(sk);

	if (before(flow->lost_seq, tp->snd_una))
		flow->lost_seq = tp->snd_una;
	skb_rbtree_walk_from(skb) {
		const struct tcp_skb_cb *packet = TCP_SKB_CB(skb);

		if (flow->lost == tp->lost || !bbr3_probes(bbr3_state(flow)))
			return;
		if (before(packet->seq, flow->lost_seq) || !(packet->sacked & TCPCB_LOST))
			continue;
		flow->lost_seq = packet->end_seq;
		bbr3_report_loss(sk, min_t(u32, tcp_skb_pcount(skb), tp->lost - flow->lost),
				 packet->tx.delivered, packet->tx.is_app_limited);
	}
}

static void bbr3_report_losses(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct bbr3_flow *flow = bbr3_flow(sk);

	if (flow->lost != tp->lost && bbr3_probes(bbr3_state(flow)))
		bbr3_report_marked(sk);
	if (flow->lost != tp->lost)
		bbr3_report_loss(sk, tp->lost - flow->lost, tp->delivered, tp->app_limited);
}

static struct bbr3_ack bbr3_ack(const struct sock *sk, const struct rate_sample *rs, u32 newly_lost)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return (struct bbr3_ack) {
		.now_us = tp->tcp_mstamp,
		.delivered = tp->delivered,
		.lost = tp->lost,
		.inflight = tcp_packets_in_flight(tp),
		.cwnd = tcp_snd_cwnd(tp),
		.acked = max(rs->acked_sacked, 0),
		.newly_lost = newly_lost,
		.rtt_us = rs->rtt_us < 0 ? BBR3_INFINITY : max(rs->rtt_us, 1L),
		.srtt_us = startup_srtt_us(sk),
		.interval_us = max(rs->interval_us, 0L),
		.has_data = rs->prior_mstamp && rs->delivered >= 0,
		.newest = bbr3_sent(bbr3_flow(sk), rs->prior_delivered, rs->is_app_limited),
		.cwnd_limited = tp->is_cwnd_limited,
		.fast_recovery = inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery,
	};
}

static void bbr3_leave_startup(struct sock *sk, u32 cwnd_pkts, long rtt_us)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH)
		return;
	tp->snd_ssthresh = max(bbr3_bdp(bbr3_state(bbr3_flow(sk))), 2U);
	slow_start_left(sk, cwnd_pkts, rtt_us > 0 ? rtt_us : tp->rack.rtt_us, "bbr");
}

STARTUP_CONG_CONTROL(bbr3_control)
{
	struct bbr3_flow *flow = bbr3_flow(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 newly_lost = tp->lost - flow->lost;
	struct bbr3_ack sample;
	u32 cwnd_pkts;

	sent_settle(&flow->sent, rs->prior_in_flight);
	bbr3_report_losses(sk);
	sample = bbr3_ack(sk, rs, newly_lost);
	cwnd_pkts = bbr3_model_on_ack(flow, &sample);
	if (bbr3_state(flow)->mode == BBR3_PROBE_RTT)	/* its rates are no bandwidth */
		tp->app_limited = max(tp->delivered + tcp_packets_in_flight(tp), 1U);
	if (bbr3_state(flow)->full_bw_reached)
		bbr3_leave_startup(sk, sample.cwnd, rs->rtt_us);
	startup_set_window(sk, cwnd_pkts);
	bbr3_pace(sk);
	sent_note(&flow->sent, tp->delivered, tp->lost, sample.inflight, cwnd_pkts / SENT_PER_WINDOW);
}

/* Comes before TCP reduces the window, which BBR does not. */
static u32 bbr3_ssthresh(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (bbr3_flow(sk))
		bbr3_enter_recovery(bbr3_state(bbr3_flow(sk)), tcp_snd_cwnd(tp), tp->delivered);
	return tp->snd_ssthresh;
}

static void bbr3_set_state(struct sock *sk, u8 new_state)
{
	struct bbr3_flow *flow = bbr3_flow(sk);

	if (!flow)
		return;
	if (new_state == TCP_CA_Loss)
		bbr3_report_losses(sk);
	else if (new_state <= TCP_CA_Disorder && bbr3_state(flow)->recovering)
		startup_set_window(sk, bbr3_exit_recovery(bbr3_state(flow), tcp_snd_cwnd(tcp_sk(sk))));
}

static u32 bbr3_undo_cwnd(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!bbr3_flow(sk))
		return tcp_snd_cwnd(tp);
	return bbr3_spurious(bbr3_state(bbr3_flow(sk)), tcp_snd_cwnd(tp), tp->delivered);
}

static void bbr3_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr3_flow *flow = bbr3_flow(sk);

	if (!flow || event != CA_EVENT_TX_START || !tp->app_limited)
		return;
	startup_set_window(sk, bbr3_restart_from_idle(bbr3_state(flow), tp->tcp_mstamp, tcp_snd_cwnd(tp), tp->delivered));
	bbr3_pace(sk);
}

static struct tcp_congestion_ops BBR3_TCP_OPS __read_mostly = {
	.init		= bbr3_init,
	.release	= startup_release,
	.ssthresh	= bbr3_ssthresh,
	.cong_control	= bbr3_control,
	.set_state	= bbr3_set_state,
	.undo_cwnd	= bbr3_undo_cwnd,
	.cwnd_event	= bbr3_cwnd_event,
	.owner		= THIS_MODULE,
	.name		= BBR3_TCP_NAME,
};

static int __init bbr3_tcp_register(void)
{
	BUILD_BUG_ON(offsetof(struct bbr3_flow, state));

	startup_reno_begin();
	return tcp_register_congestion_control(&BBR3_TCP_OPS);
}

static void __exit bbr3_tcp_unregister(void)
{
	tcp_unregister_congestion_control(&BBR3_TCP_OPS);
}

#endif /* BBR3_TCP_H */
