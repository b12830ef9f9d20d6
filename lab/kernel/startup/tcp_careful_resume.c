// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP "careful_resume": the kernel's own CUBIC, which resumes by Careful Resume (RFC 9959).
 *
 * The saved set is given by parameters: window, RTT, age, and whether the remote endpoint is
 * another one.  A connection reconnoitres with CUBIC's hooks alone.  From the jump to the end of
 * Careful Resume it has the same hooks with cong_control, so that neither TCP's pacing nor its
 * proportional rate reduction interfere ("PRR is therefore not appropriate"); then it is CUBIC's.
 * CUBIC has no HyStart here, as in all senders of this lab that replace it.
 *
 * A set is used by one connection of a network namespace at a time, and is removed by a Safe
 * Retreat: until the namespace ends, no connection uses it again.
 *
 * "Observing": a connection that is not resuming measures what is acknowledged in each round trip,
 * and its least RTT.  observed_cwnd_pkts and observed_rtt_us are those of the flow that ended
 * last; in slow start the window has not been validated, and half of it counts.
 *
 * Differences from the text, in addition to those of the core
 *
 *  1. The parameters are of every path: path_changed stands for a remote endpoint that differs.
 *  2. PipeSize in a Safe Retreat counts what was sent before it, not its retransmissions.
 *  3. A congestion signal that TCP takes back (undo) does not take the retreat back.
 *  4. The first lost packet is sent again at once, whatever the window (startup_pacing.h).
 *  5. TCP stays in recovery until all that was sent before the retreat is acknowledged; the window
 *     stays as long.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#define KERNEL_CUBIC_OPS tcp_careful_resume
#include "kernel_cubic.h"

#include <net/netns/generic.h>

#include "bounded_param.h"
#include "careful_resume_core.h"
#include "slow_start.h"
#include "startup_pacing.h"

static struct careful_resume_params careful_resume_now __read_mostly = {
	.lifetime_s = 3600,
	.max_jump_pkts = CAREFUL_RESUME_MAX_JUMP_PKTS_MAX,
	.beta_pct = 50,
};

#define CAREFUL_RESUME_PARAM(name, NAME)					\
	BOUNDED_PARAM(name, &careful_resume_now.name, CAREFUL_RESUME_##NAME##_MIN,	\
		      CAREFUL_RESUME_##NAME##_MAX, 0644)

CAREFUL_RESUME_PARAM(saved_cwnd_pkts, SAVED_CWND_PKTS);
MODULE_PARM_DESC(saved_cwnd_pkts, "saved window (1 to 10000000; 0: nothing is saved)");

CAREFUL_RESUME_PARAM(saved_rtt_us, SAVED_RTT_US);
MODULE_PARM_DESC(saved_rtt_us, "saved least RTT, in us (1 to 60000000; 0: nothing is saved)");

CAREFUL_RESUME_PARAM(saved_age_s, SAVED_AGE_S);
MODULE_PARM_DESC(saved_age_s, "age of the saved set, in s (0 to 31536000)");

CAREFUL_RESUME_PARAM(lifetime_s, LIFETIME_S);
MODULE_PARM_DESC(lifetime_s, "age up to which a set is used, in s (1 to 31536000, default 3600)");

CAREFUL_RESUME_PARAM(path_changed, PATH_CHANGED);
MODULE_PARM_DESC(path_changed, "1: the remote endpoint is not that of the saved set (0 or 1)");

CAREFUL_RESUME_PARAM(max_jump_pkts, MAX_JUMP_PKTS);
MODULE_PARM_DESC(max_jump_pkts, "largest window to jump to (1 to 10000000)");

CAREFUL_RESUME_PARAM(beta_pct, BETA_PCT);
MODULE_PARM_DESC(beta_pct,
		 "ssthresh after a Safe Retreat, in percent of PipeSize (50 to 100, default 50)");

static u32 observed_cwnd_pkts;
module_param(observed_cwnd_pkts, uint, 0444);
MODULE_PARM_DESC(observed_cwnd_pkts, "what the flow that ended last would save (read only)");

static u32 observed_rtt_us;
module_param(observed_rtt_us, uint, 0444);
MODULE_PARM_DESC(observed_rtt_us, "its least RTT, in us (read only)");

/* What became of the saved set, in each network namespace. */
enum careful_resume_set {
	CAREFUL_RESUME_FREE,
	CAREFUL_RESUME_IN_USE,
	CAREFUL_RESUME_REMOVED,
};

struct careful_resume_net {
	atomic_t set;	/* enum careful_resume_set */
};

static unsigned int careful_resume_net_id __read_mostly;

/* What a flow keeps in its socket.  CUBIC's part first: inet_csk_ca() is its, too. */
struct careful_resume {
	struct bictcp cubic;
	struct careful_resume_state state;
	u32 since_delivered;	/* tp->delivered as the round of the observation, or the retreat, began */
	u32 best_pkts;		/* most that a round delivered */
	u32 retreat_pkts;	/* the window of the retreat */
	bool reducing;		/* see slow_start.h */
	bool uses_set;
	bool just_jumped;	/* the present ACK is accounted */
};

/* The same hooks with cong_control. */
static struct tcp_congestion_ops careful_resume_jumping __read_mostly;

/* A change of a parameter holds at once, for all flows. */
static struct careful_resume_params careful_resume_params(void)
{
	return (struct careful_resume_params) {
		.saved_cwnd_pkts = READ_ONCE(careful_resume_now.saved_cwnd_pkts),
		.saved_rtt_us = READ_ONCE(careful_resume_now.saved_rtt_us),
		.saved_age_s = READ_ONCE(careful_resume_now.saved_age_s),
		.lifetime_s = READ_ONCE(careful_resume_now.lifetime_s),
		.path_changed = READ_ONCE(careful_resume_now.path_changed),
		.max_jump_pkts = READ_ONCE(careful_resume_now.max_jump_pkts),
		.beta_pct = READ_ONCE(careful_resume_now.beta_pct),
	};
}

static atomic_t *careful_resume_set_of(const struct sock *sk)
{
	struct careful_resume_net *net = net_generic(sock_net(sk), careful_resume_net_id);

	return &net->set;
}

static bool careful_resume_take_set(struct sock *sk)
{
	struct careful_resume *ca = inet_csk_ca(sk);

	ca->uses_set = atomic_cmpxchg(careful_resume_set_of(sk), CAREFUL_RESUME_FREE,
				      CAREFUL_RESUME_IN_USE) == CAREFUL_RESUME_FREE;
	return ca->uses_set;
}

static bool careful_resume_active(const struct careful_resume *ca)
{
	return ca->state.phase > CAREFUL_RESUME_RECONNAISSANCE;
}

/* A flow that resumes has sent before: by setsockopt() in mid-flow it is CUBIC's. */
static void careful_resume_init(struct sock *sk)
{
	struct careful_resume_params params = careful_resume_params();
	struct careful_resume *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	cubictcp_init(sk);
	ca->reducing = false;
	ca->uses_set = false;
	ca->just_jumped = false;
	ca->best_pkts = 0;
	ca->since_delivered = tp->delivered;
	careful_resume_begin(&ca->state, !tp->bytes_sent && careful_resume_usable(&params) &&
			     atomic_read(careful_resume_set_of(sk)) == CAREFUL_RESUME_FREE);
}

static void careful_resume_release(struct sock *sk)
{
	struct careful_resume *ca = inet_csk_ca(sk);

	if (ca->uses_set)
		atomic_cmpxchg(careful_resume_set_of(sk), CAREFUL_RESUME_IN_USE,
			       CAREFUL_RESUME_FREE);
	ca->uses_set = false;
	if (ca->best_pkts) {
		WRITE_ONCE(observed_cwnd_pkts, ca->best_pkts);
		WRITE_ONCE(observed_rtt_us, tcp_min_rtt(tcp_sk(sk)));
	}
}

static void careful_resume_change(struct sock *sk, const struct careful_resume_change *change)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (change->cwnd_pkts)
		tcp_snd_cwnd_set(tp, min(change->cwnd_pkts, tp->snd_cwnd_clamp));
	if (change->ssthresh_pkts)
		tp->snd_ssthresh = change->ssthresh_pkts;
}

static struct careful_resume_ack careful_resume_ack(struct sock *sk, u32 rtt_us, u32 acked_pkts,
						    u32 before_pkts)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return (struct careful_resume_ack) {
		.now_us = tp->tcp_mstamp,
		.snd_una = tp->snd_una,
		.snd_nxt = tp->snd_nxt,
		.rtt_us = rtt_us,
		.acked_pkts = acked_pkts,
		.before_pkts = before_pkts,
		.flight_pkts = tcp_packets_in_flight(tp),
		.cwnd_pkts = tcp_snd_cwnd(tp),
		.limited = tcp_is_cwnd_limited(sk),
	};
}

/* The jump.  What is sent upon this ACK is paced already: cong_control has it from here on. */
static void careful_resume_jump(struct sock *sk, const struct careful_resume_change *change)
{
	struct careful_resume *ca = inet_csk_ca(sk);

	if (!careful_resume_take_set(sk)) {
		careful_resume_stop(&ca->state);
		return;
	}
	ca->just_jumped = true;
	careful_resume_change(sk, change);
	startup_pacing_on(sk);
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &careful_resume_jumping);
}

static void careful_resume_reconnoitre(struct sock *sk, u32 rtt_us)
{
	struct careful_resume_params params = careful_resume_params();
	struct careful_resume_ack ack = careful_resume_ack(sk, rtt_us, 0, 0);
	struct careful_resume *ca = inet_csk_ca(sk);
	struct careful_resume_change change;

	careful_resume_on_ack(&ca->state, &params, &ack, &change);
	if (careful_resume_active(ca))
		careful_resume_jump(sk, &change);
}

/* A round trip is over when as much was acknowledged in it as is in flight now. */
static void careful_resume_observe(struct sock *sk)
{
	struct careful_resume *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 pkts = tp->delivered - ca->since_delivered;

	if (pkts < tcp_packets_in_flight(tp))
		return;
	ca->best_pkts = max(ca->best_pkts, tcp_in_slow_start(tp) ? pkts / 2 : pkts);
	ca->since_delivered = tp->delivered;
}

static void careful_resume_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct careful_resume *ca = inet_csk_ca(sk);

	if (careful_resume_active(ca))
		return;
	cubictcp_acked(sk, sample);
	if (ca->state.phase == CAREFUL_RESUME_RECONNAISSANCE &&
	    inet_csk(sk)->icsk_ca_state == TCP_CA_Open)
		/* Negative: an ACK for data sent more than once has no RTT sample.  0: below the
		 * clock's resolution, taken as 1 us as CUBIC does.
		 */
		careful_resume_reconnoitre(sk, sample->rtt_us < 0 ? 0 : max(sample->rtt_us, 1));
	else
		careful_resume_observe(sk);
}

static void careful_resume_pace(struct sock *sk, u32 rtt_us)
{
	const struct careful_resume *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (ca->state.phase == CAREFUL_RESUME_UNVALIDATED)
		startup_pace(sk, tcp_snd_cwnd(tp), rtt_us ?: startup_srtt_us(sk), 100);
	else
		startup_pace(sk, tcp_snd_cwnd(tp), startup_srtt_us(sk),
			     tcp_in_slow_start(tp) ? STARTUP_SLOW_START_PCT : STARTUP_AVOIDANCE_PCT);
}

/* Of data that was sent before a Safe Retreat began. */
static u32 careful_resume_acked_pkts(const struct careful_resume *ca, const struct rate_sample *rs)
{
	if (ca->state.phase == CAREFUL_RESUME_SAFE_RETREAT && rs->prior_mstamp &&
	    !before(rs->prior_delivered, ca->since_delivered))
		return 0;

	return max(rs->acked_sacked, 0);
}

/* TCP must have left its recovery: it would make ssthresh the window. */
static void careful_resume_hand_over(struct sock *sk)
{
	if (inet_csk(sk)->icsk_ca_state <= TCP_CA_Disorder)
		WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &tcp_careful_resume);
}

/* A Safe Retreat begins, with its window: no later flow uses the set. */
static void careful_resume_retreats(struct sock *sk)
{
	struct careful_resume *ca = inet_csk_ca(sk);

	ca->retreat_pkts = tcp_snd_cwnd(tcp_sk(sk));
	atomic_set(careful_resume_set_of(sk), CAREFUL_RESUME_REMOVED);
	ca->since_delivered = tcp_sk(sk)->delivered;
}

static void careful_resume_account(struct sock *sk, const struct rate_sample *rs, u32 rtt_us)
{
	struct careful_resume_params params = careful_resume_params();
	struct careful_resume *ca = inet_csk_ca(sk);
	struct careful_resume_change change;
	struct careful_resume_ack ack;
	u8 phase = ca->state.phase;

	ack = careful_resume_ack(sk, rtt_us, careful_resume_acked_pkts(ca, rs), rs->prior_in_flight);
	careful_resume_on_ack(&ca->state, &params, &ack, &change);
	careful_resume_change(sk, &change);
	if (phase != CAREFUL_RESUME_SAFE_RETREAT && ca->state.phase == CAREFUL_RESUME_SAFE_RETREAT)
		careful_resume_retreats(sk);
	if (phase == CAREFUL_RESUME_VALIDATING && rs->acked_sacked > 0)
		cubictcp_cong_avoid(sk, tcp_sk(sk)->snd_una, rs->acked_sacked);
}

STARTUP_CONG_CONTROL(careful_resume_control)
{
	struct careful_resume *ca = inet_csk_ca(sk);
	u32 rtt_us = max(rs->rtt_us, 0L);

	if (careful_resume_active(ca) && !ca->just_jumped)
		careful_resume_account(sk, rs, rtt_us);
	ca->just_jumped = false;
	if (ca->state.phase == CAREFUL_RESUME_SAFE_RETREAT) {
		tcp_snd_cwnd_set(tcp_sk(sk), ca->retreat_pkts);
		startup_allow_retransmission(sk);
	}
	careful_resume_pace(sk, rtt_us);
	if (!careful_resume_active(ca))
		careful_resume_hand_over(sk);
}

static u32 careful_resume_ssthresh(struct sock *sk)
{
	struct careful_resume_params params = careful_resume_params();
	struct careful_resume *ca = inet_csk_ca(sk);
	struct careful_resume_change change;
	u8 phase = ca->state.phase;

	slow_start_reducing(sk, &ca->reducing);
	careful_resume_congested(&ca->state, tcp_sk(sk)->snd_nxt, &change);
	if (!careful_resume_active(ca))
		return cubictcp_recalc_ssthresh(sk);

	cubictcp_recalc_ssthresh(sk);
	careful_resume_change(sk, &change);
	if (phase != CAREFUL_RESUME_SAFE_RETREAT)
		careful_resume_retreats(sk);
	return careful_resume_ssthresh_pkts(&ca->state, &params);
}

static void careful_resume_set_state(struct sock *sk, u8 new_state)
{
	struct careful_resume *ca = inet_csk_ca(sk);

	slow_start_reduced(sk, new_state, &ca->reducing);
	if (new_state == TCP_CA_Loss) {
		careful_resume_stop(&ca->state);
		WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &tcp_careful_resume);
	}
	cubictcp_state(sk, new_state);
}

static u32 careful_resume_undo_cwnd(struct sock *sk)
{
	const struct careful_resume *ca = inet_csk_ca(sk);

	return careful_resume_active(ca) ? tcp_snd_cwnd(tcp_sk(sk)) : tcp_reno_undo_cwnd(sk);
}

static struct tcp_congestion_ops tcp_careful_resume __read_mostly = {
	.init		= careful_resume_init,
	.release	= careful_resume_release,
	.ssthresh	= careful_resume_ssthresh,
	.cong_avoid	= cubictcp_cong_avoid,
	.set_state	= careful_resume_set_state,
	.undo_cwnd	= careful_resume_undo_cwnd,
	.cwnd_event	= cubictcp_cwnd_event,
	.pkts_acked	= careful_resume_acked,
	.owner		= THIS_MODULE,
	.name		= "careful_resume",
};

static struct pernet_operations careful_resume_net_ops = {
	.id = &careful_resume_net_id,
	.size = sizeof(struct careful_resume_net),
};

KERNEL_CUBIC_HOLDS(struct careful_resume);

static int __init careful_resume_module_init(void)
{
	int error;

	if (!careful_resume_params_valid(&careful_resume_now))
		return -EINVAL;
	error = register_pernet_subsys(&careful_resume_net_ops);
	if (error)
		return error;
	KERNEL_CUBIC_TAKE_START();
	careful_resume_jumping = tcp_careful_resume;
	careful_resume_jumping.cong_control = careful_resume_control;
	error = kernel_cubic_register();
	if (error)
		unregister_pernet_subsys(&careful_resume_net_ops);
	return error;
}

static void __exit careful_resume_module_exit(void)
{
	kernel_cubic_unregister();
	unregister_pernet_subsys(&careful_resume_net_ops);
}

module_init(careful_resume_module_init);
module_exit(careful_resume_module_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP CUBIC with Careful Resume (RFC 9959)");
