// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "vivace": PCC Vivace (NSDI 2018), by its paper.
 *
 * Vivace (vivace_core.c) has the pacing rate.  An interval lasts a smoothed round trip, and ten
 * packets at least.  What it measured is known when a packet sent after it was acknowledged.
 *
 * Differences from the paper, in addition to those of the core
 *
 *  1. Intervals begin and end with an ACK.
 *  2. A loss belongs to the interval whose packets are acknowledged as it is found.
 *  3. The window is twice what the rate needs, so that it does not limit; TCP's recovery does not
 *     reduce it.
 *  4. The rate counts IP's and TCP's headers, as fq and TCP's own pacing do.
 *  5. Without memory for its state a flow runs Reno.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/random.h>

#include "bounded_param.h"
#include "slow_start.h"
#define STARTUP_HEAP_OPS tcp_vivace
#include "startup_heap.h"
#include "startup_pacing.h"
#include "vivace_core.h"

#define VIVACE_INTERVALS	2	/* that are measured at the same time */
#define VIVACE_INTERVAL_PKTS	10
#define VIVACE_REORDERING	3	/* packets after an interval, for which its losses are found */
#define VIVACE_BYTES_PER_KBIT	125

#define VIVACE_PARAM(name, NAME, initial)			\
	static u32 name __read_mostly = initial;		\
	BOUNDED_PARAM(name, &name, VIVACE_##NAME##_MIN, VIVACE_##NAME##_MAX, 0644)

VIVACE_PARAM(latency, LATENCY, 900);
MODULE_PARM_DESC(latency, "b: weight of the round-trip time's gradient (0 to 10000, default 900)");

VIVACE_PARAM(loss_pct, LOSS_PCT, 1135);
MODULE_PARM_DESC(loss_pct, "c in hundredths: weight of losses (0 to 10000, default 1135)");

VIVACE_PARAM(epsilon_pct, EPSILON_PCT, 5);
MODULE_PARM_DESC(epsilon_pct, "how far the rates of a trial are apart, in percent (1 to 25, default 5)");

struct vivace_monitor {
	struct vivace_slope slope;
	u64 begin_us;
	u32 begin_seq;
	u32 end_seq;
	u32 rate_kbps;
	u32 acked_pkts;
	u32 lost_pkts;
	bool ended;
	bool app_limited;
};

struct vivace_flow {
	struct vivace_state state;
	struct vivace_monitor monitors[VIVACE_INTERVALS];	/* the oldest first */
	u64 end_us;		/* of the present interval */
	u32 begin_seq;
	u32 lost;		/* tp->lost at the last ACK */
	u32 rate_kbps;		/* of the present interval */
	u8 count;
	bool measures;		/* the present interval is the newest monitor */
};

static struct vivace_params vivace_params(void)
{
	return (struct vivace_params) {
		.latency = READ_ONCE(latency),
		.loss_pct = READ_ONCE(loss_pct),
		.epsilon_pct = READ_ONCE(epsilon_pct),
	};
}

/* Also sets the window. */
static void vivace_pace(struct sock *sk)
{
	const struct vivace_flow *flow = startup_flow(sk);
	u64 rate = (u64)flow->rate_kbps * VIVACE_BYTES_PER_KBIT;
	u64 rtt_bytes = mul_u64_u32_div(rate, startup_srtt_us(sk), USEC_PER_SEC);
	u64 rtt_pkts = div_u64(rtt_bytes, tcp_mss_to_mtu(sk, tcp_sk(sk)->mss_cache));

	startup_set_window(sk, 2 * min_t(u64, rtt_pkts, STARTUP_MOST_PKTS) + VIVACE_INTERVAL_PKTS);
	WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate)));
}

static void vivace_begin_interval(struct sock *sk, struct vivace_flow *flow)
{
	struct vivace_params params = vivace_params();
	const struct tcp_sock *tp = tcp_sk(sk);

	flow->measures = vivace_next(&flow->state, &params, &flow->rate_kbps);
	flow->begin_seq = tp->snd_nxt;
	flow->end_us = tp->tcp_mstamp + startup_srtt_us(sk);
	if (flow->measures)
		flow->monitors[flow->count++] = (struct vivace_monitor) {
			.begin_us = tp->tcp_mstamp,
			.begin_seq = tp->snd_nxt,
			.rate_kbps = flow->rate_kbps,
		};
}

static void vivace_init(struct sock *sk)
{
	struct vivace_flow *flow = startup_allocate(sk, sizeof(*flow));
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 bits;

	if (!flow)
		return;
	bits = 8ULL * tcp_snd_cwnd(tp) * tcp_mss_to_mtu(sk, tp->mss_cache);
	vivace_begin(&flow->state, div_u64(bits * USEC_PER_MSEC, max(startup_srtt_us(sk), 1000U)),
		     get_random_u32());
	flow->lost = tp->lost;
	startup_pacing_on(sk);
	vivace_begin_interval(sk, flow);
	vivace_pace(sk);
}

static struct vivace_interval vivace_interval(const struct vivace_monitor *monitor)
{
	u32 pkts = max(monitor->acked_pkts + monitor->lost_pkts, 1U);

	return (struct vivace_interval) {
		.rate_kbps = monitor->rate_kbps,
		.loss_ppm = div_u64((u64)monitor->lost_pkts * USEC_PER_SEC, pkts),
		.gradient_ppm = vivace_gradient_ppm(&monitor->slope),
	};
}

static void vivace_leave_start(struct sock *sk, u32 rtt_us)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH)
		return;
	tp->snd_ssthresh = max(tcp_snd_cwnd(tp), 2U);
	slow_start_left(sk, tcp_snd_cwnd(tp), rtt_us ?: tp->rack.rtt_us, "vivace");
}

/* All that was under way is void. */
static void vivace_void(struct vivace_flow *flow)
{
	flow->count = 0;
	flow->measures = false;
	flow->end_us = 0;
}

static void vivace_end_monitor(struct sock *sk, struct vivace_flow *flow)
{
	struct vivace_params params = vivace_params();
	struct vivace_interval interval = vivace_interval(&flow->monitors[0]);

	if (flow->monitors[0].app_limited) {
		vivace_again(&flow->state);
		vivace_void(flow);
		return;
	}
	flow->monitors[0] = flow->monitors[1];
	flow->count--;
	if (vivace_measured(&flow->state, &params, &interval))
		vivace_leave_start(sk, tcp_sk(sk)->rack.rtt_us);
}

/* The newest packet that an ACK acknowledges is at @seq. */
static bool vivace_monitor_is_over(const struct sock *sk, const struct vivace_monitor *monitor, u32 seq)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return monitor->ended && (!before(tp->snd_una, monitor->end_seq) ||
				  after(seq, monitor->end_seq + VIVACE_REORDERING * tp->mss_cache));
}

static void vivace_take(const struct sock *sk, struct vivace_monitor *monitor,
			const struct rate_sample *rs, u32 newly_lost)
{
	u64 sent_us = tcp_sk(sk)->tcp_mstamp - max(rs->rtt_us, 0L);

	if (!rs->prior_mstamp || !after(rs->last_end_seq, monitor->begin_seq))
		return;
	monitor->acked_pkts += max(rs->acked_sacked, 0);
	monitor->lost_pkts += newly_lost;
	monitor->app_limited |= rs->is_app_limited;
	if (rs->rtt_us > 0 && rs->rtt_us < BIT(27) && sent_us >= monitor->begin_us &&
	    sent_us - monitor->begin_us < BIT(24))
		vivace_sample(&monitor->slope, sent_us - monitor->begin_us, rs->rtt_us);
}

static void vivace_advance(struct sock *sk, struct vivace_flow *flow)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (flow->measures &&
	    (tp->tcp_mstamp < flow->end_us ||
	     before(tp->snd_nxt, flow->begin_seq + VIVACE_INTERVAL_PKTS * tp->mss_cache)))
		return;
	if (flow->measures) {
		flow->monitors[flow->count - 1].end_seq = tp->snd_nxt;
		flow->monitors[flow->count - 1].ended = true;
	}
	vivace_begin_interval(sk, flow);
}

STARTUP_CONG_CONTROL(vivace_control)
{
	struct vivace_flow *flow = startup_flow(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 newly_lost = tp->lost - flow->lost;

	flow->lost = tp->lost;
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss && rs->acked_sacked <= 0)
		return;
	if (flow->count)
		vivace_take(sk, &flow->monitors[0], rs, newly_lost);
	while (flow->count && vivace_monitor_is_over(sk, &flow->monitors[0], rs->last_end_seq))
		vivace_end_monitor(sk, flow);
	vivace_advance(sk, flow);
	vivace_pace(sk);
	startup_allow_retransmission(sk);
}

static u32 vivace_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

static void vivace_set_state(struct sock *sk, u8 new_state)
{
	struct vivace_flow *flow = startup_flow(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!flow || new_state != TCP_CA_Loss)
		return;
	vivace_timeout(&flow->state);
	vivace_void(flow);
	if (tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH) {
		tp->snd_ssthresh = max(tp->prior_cwnd / 2, 2U);
		slow_start_left(sk, tp->prior_cwnd, tp->rack.rtt_us, "timeout");
	}
}

static u32 vivace_undo_cwnd(struct sock *sk)
{
	return tcp_snd_cwnd(tcp_sk(sk));
}

static struct tcp_congestion_ops tcp_vivace __read_mostly = {
	.init		= vivace_init,
	.release	= startup_release,
	.ssthresh	= vivace_ssthresh,
	.cong_control	= vivace_control,
	.set_state	= vivace_set_state,
	.undo_cwnd	= vivace_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "vivace",
};

static int __init vivace_module_init(void)
{
	startup_reno_begin();
	return tcp_register_congestion_control(&tcp_vivace);
}

static void __exit vivace_module_exit(void)
{
	tcp_unregister_congestion_control(&tcp_vivace);
}

module_init(vivace_module_init);
module_exit(vivace_module_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP PCC Vivace (NSDI 2018)");
