// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports the exit from slow start of senders that do not report it: the kernel's own.
 *
 *	modprobe tcp_slow_start_watch algorithms=cubic,bbr
 *
 * Their source is not ours, so they are watched through three of the kernel's
 * tracepoints.  tcp:tcp_probe shows each socket before it takes an ACK in,
 * tcp:tcp_cong_state_set before a loss changes its state, tcp:tcp_destroy_sock at its
 * end.  What counts:
 *
 *  - A flow is in its first slow start while ssthresh is infinite, and then until cwnd
 *    has reached it: a sender may set one that lies ahead (initial_ssthresh).  One that
 *    lowers cwnd as it sets ssthresh has left, too.  tcp_probe alone does not show it:
 *    its ssthresh is tcp_current_ssthresh(), 3/4 of cwnd where that is more (TCP-NV and
 *    BBR leave with less).
 *  - BBR has no use for ssthresh.  It is in its first slow start while its own state,
 *    read by get_info(), is STARTUP: both gains alike and above 1.  It has left once the
 *    pacing gain is the smaller one (DRAIN, PROBE_BW).  PROBE_RTT, both gains 1, is
 *    neither: a flow can fall into it out of STARTUP, and goes back.
 *
 * An exit is reported at the next ACK (or the socket's end), with its age.  An
 * exit by loss happened as the state changed, with the window before the reduction; but
 * DCTCP writes ssthresh once more after that.  An exit by the sender's own rule happened
 * while the ACK before was taken in, with the window that this ACK found.
 *
 * Every flow is watched, and only exits of the algorithms in the parameter are reported: a
 * flow may get its congestion control after its first ACK, and leave before the next one.
 *
 * After an undone reduction ssthresh is infinite again, and the flow is watched again.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hashtable.h>
#include <linux/inet_diag.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <net/tcp.h>

#include "slow_start.h"

#define WATCH_ALGORITHMS_MAX	32
#define WATCH_BUCKET_BITS	10
#define WATCH_BBR_UNIT		256	/* a gain of 1, in struct tcp_bbr_info */

static char *algorithms[WATCH_ALGORITHMS_MAX];
static int algorithms_count;
module_param_array(algorithms, charp, &algorithms_count, 0444);
MODULE_PARM_DESC(algorithms, "congestion controls whose exits are reported, separated by commas");

static unsigned int no_memory_flows;
module_param(no_memory_flows, uint, 0444);
MODULE_PARM_DESC(no_memory_flows, "flows not watched because there was no memory (read only)");

/* The cause of an exit that no loss explains: the algorithm's own rule. */
static const char watch_own_rule[] = "own";

/* A flow in its first slow start, as its last ACK found it, or as it left. */
struct watch_flow {
	struct hlist_node node;
	const struct sock *sk;
	u64 noted_ns;
	u32 cwnd_pkts;
	u32 delivered_pkts;
	const char *cause;
	bool left;
};

static DEFINE_HASHTABLE(watch_flows, WATCH_BUCKET_BITS);
static DEFINE_SPINLOCK(watch_lock);

enum watch_phase { WATCH_INSIDE, WATCH_BETWEEN, WATCH_OUTSIDE };

static enum watch_phase watch_gains(u32 pacing_gain, u32 cwnd_gain)
{
	if (pacing_gain < cwnd_gain)
		return WATCH_OUTSIDE;
	return pacing_gain > WATCH_BBR_UNIT ? WATCH_INSIDE : WATCH_BETWEEN;
}

static enum watch_phase watch_phase(struct sock *sk)
{
	const struct tcp_congestion_ops *ca_ops = inet_csk(sk)->icsk_ca_ops;
	const struct tcp_sock *tp = tcp_sk(sk);
	union tcp_cc_info info = { };
	int attr = 0;

	if (ca_ops->get_info)
		ca_ops->get_info(sk, 1 << (INET_DIAG_BBRINFO - 1), &attr, &info);
	if (attr == INET_DIAG_BBRINFO)
		return watch_gains(info.bbr.bbr_pacing_gain, info.bbr.bbr_cwnd_gain);

	if (tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH)
		return WATCH_INSIDE;
	return tcp_in_slow_start(tp) ? WATCH_BETWEEN : WATCH_OUTSIDE;
}

/* Whether the last ACK may have raised cwnd to ssthresh, and the sender lowered it at once. */
static bool watch_lowered(const struct tcp_sock *tp, const struct watch_flow *flow)
{
	u32 reached_pkts = flow->cwnd_pkts + tp->delivered - flow->delivered_pkts;

	return tcp_snd_cwnd(tp) < flow->cwnd_pkts && tp->snd_ssthresh <= reached_pkts;
}

static bool watch_left(struct sock *sk, const struct watch_flow *flow)
{
	return flow->left || watch_phase(sk) == WATCH_OUTSIDE || watch_lowered(tcp_sk(sk), flow);
}

static bool watch_wanted(const struct sock *sk)
{
	int i;

	for (i = 0; i < algorithms_count; i++)
		if (!strcmp(algorithms[i], inet_csk(sk)->icsk_ca_ops->name))
			return true;
	return false;
}

static struct watch_flow *watch_find(const struct sock *sk)
{
	struct watch_flow *flow;

	hash_for_each_possible(watch_flows, flow, node, (unsigned long)sk)
		if (flow->sk == sk)
			return flow;
	return NULL;
}

static void watch_forget(struct watch_flow *flow)
{
	hash_del(&flow->node);
	kfree(flow);
}

static struct watch_flow *watch_begin(const struct sock *sk)
{
	struct watch_flow *flow = kmalloc(sizeof(*flow), GFP_ATOMIC | __GFP_NOWARN);

	if (!flow) {
		no_memory_flows++;
		pr_warn_ratelimited("no memory: the exit of this flow is not reported\n");
		return NULL;
	}
	flow->sk = sk;
	hash_add(watch_flows, &flow->node, (unsigned long)sk);
	return flow;
}

static void watch_report(struct sock *sk, struct watch_flow *flow)
{
	if (watch_wanted(sk))
		slow_start_left_ago(sk, flow->cwnd_pkts, tcp_sk(sk)->rack.rtt_us, flow->cause,
				    ktime_get_ns() - flow->noted_ns);
	watch_forget(flow);
}

static void watch_note(struct watch_flow *flow, u32 cwnd_pkts, const char *cause)
{
	flow->noted_ns = ktime_get_ns();
	flow->cwnd_pkts = cwnd_pkts;
	flow->delivered_pkts = tcp_sk(flow->sk)->delivered;
	flow->cause = cause;
	flow->left = cause != watch_own_rule;
}

/* tcp:tcp_probe, before an ACK is taken in. */
static void watch_ack(void *unused, struct sock *sk, struct sk_buff *skb)
{
	struct watch_flow *flow;

	spin_lock_bh(&watch_lock);
	flow = watch_find(sk);
	if (flow && watch_left(sk, flow)) {
		watch_report(sk, flow);
		flow = NULL;
	}
	if (!flow && watch_phase(sk) == WATCH_INSIDE)
		flow = watch_begin(sk);
	if (flow)
		watch_note(flow, tcp_snd_cwnd(tcp_sk(sk)), watch_own_rule);
	spin_unlock_bh(&watch_lock);
}

/* Whether cwnd had reached ssthresh before a reduction: then the flow's own rule had been first. */
static bool watch_had_left(const struct tcp_sock *tp)
{
	return tp->prior_ssthresh && tp->prior_ssthresh <= tp->prior_cwnd;
}

/* tcp:tcp_cong_state_set: ssthresh has been reduced, and cwnd may have been, too. */
static void watch_state(void *unused, struct sock *sk, const u8 ca_state)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct watch_flow *flow;

	if (ca_state < TCP_CA_CWR || watch_phase(sk) == WATCH_INSIDE ||
	    tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH)
		return;

	spin_lock_bh(&watch_lock);
	flow = watch_find(sk);
	if (flow && !flow->left && !watch_had_left(tp))
		watch_note(flow, tp->prior_cwnd, slow_start_cause(ca_state));
	spin_unlock_bh(&watch_lock);
}

/* tcp:tcp_destroy_sock */
static void watch_end(void *unused, struct sock *sk)
{
	struct watch_flow *flow;

	spin_lock_bh(&watch_lock);
	flow = watch_find(sk);
	if (flow && watch_left(sk, flow))
		watch_report(sk, flow);
	else if (flow)
		watch_forget(flow);
	spin_unlock_bh(&watch_lock);
}

/* The kernel exports none of the three to modules: they are found by name. */
static struct watch_point {
	const char *name;
	void *probe;
	struct tracepoint *tracepoint;
} watch_points[] = {
	{ .name = "tcp_destroy_sock",	.probe = watch_end },
	{ .name = "tcp_cong_state_set",	.probe = watch_state },
	{ .name = "tcp_probe",		.probe = watch_ack },
};

static void watch_find_points(struct tracepoint *tracepoint, void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(watch_points); i++)
		if (!strcmp(watch_points[i].name, tracepoint->name))
			watch_points[i].tracepoint = tracepoint;
}

static void watch_detach(int points)
{
	struct watch_flow *flow;
	struct hlist_node *next;
	int i;

	for (i = 0; i < points; i++)
		tracepoint_probe_unregister(watch_points[i].tracepoint, watch_points[i].probe, NULL);
	tracepoint_synchronize_unregister();

	hash_for_each_safe(watch_flows, i, next, flow, node)
		watch_forget(flow);
}

static int __init watch_init(void)
{
	int error = 0;
	int i;

	for_each_kernel_tracepoint(watch_find_points, NULL);
	for (i = 0; i < ARRAY_SIZE(watch_points); i++) {
		const struct watch_point *point = &watch_points[i];

		error = point->tracepoint ?
			tracepoint_probe_register(point->tracepoint, point->probe, NULL) : -ENOENT;
		if (error) {
			pr_err("tcp:%s: must be a tracepoint of this kernel\n", point->name);
			watch_detach(i);
			break;
		}
	}
	return error;
}

static void __exit watch_exit(void)
{
	watch_detach(ARRAY_SIZE(watch_points));
}

module_init(watch_init);
module_exit(watch_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Reports the exit from slow start of the kernel's own TCP senders");
