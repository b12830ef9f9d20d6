// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reno with another slow start: it ends once a whole round trip was slow.  A queue that builds up makes even the fastest
 * packet of a round late: half as much above the smallest round trip of all means that the link is full.
 */
#include <linux/module.h>
#include <net/tcp.h>

static unsigned int slower_pct = 50;
module_param(slower_pct, uint, 0444);
MODULE_PARM_DESC(slower_pct, "slow start ends once a round's smallest RTT is so much above the smallest of all, in %");

struct my_cc {
	u32 round_end;		/* sequence number whose acknowledgement ends the round */
	u32 round_rtt_us;	/* smallest RTT of this round; U32_MAX: none yet */
	u32 base_rtt_us;	/* smallest RTT of all */
};

static void my_cc_init(struct sock *sk)
{
	struct my_cc *ca = inet_csk_ca(sk);

	*ca = (struct my_cc){ .round_end = tcp_sk(sk)->snd_nxt, .round_rtt_us = U32_MAX, .base_rtt_us = U32_MAX };
}

static void my_cc_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct my_cc *ca = inet_csk_ca(sk);

	if (sample->rtt_us > 0) {	/* else a retransmission was acknowledged: no RTT */
		ca->round_rtt_us = min_t(u32, ca->round_rtt_us, sample->rtt_us);
		ca->base_rtt_us = min(ca->base_rtt_us, ca->round_rtt_us);
	}
}

static void my_cc_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct my_cc *ca = inet_csk_ca(sk);

	if (tcp_in_slow_start(tp) && after(ack, ca->round_end)) {
		u64 slow_us = (u64)ca->base_rtt_us * (100 + slower_pct) / 100;

		if (ca->round_rtt_us != U32_MAX && ca->round_rtt_us > slow_us)
			tp->snd_ssthresh = tcp_snd_cwnd(tp);	/* the exit */
		ca->round_end = tp->snd_nxt;
		ca->round_rtt_us = U32_MAX;
	}
	tcp_reno_cong_avoid(sk, ack, acked);
}

static struct tcp_congestion_ops my_cc __read_mostly = {
	.init = my_cc_init,
	.pkts_acked = my_cc_acked,
	.cong_avoid = my_cc_avoid,
	.ssthresh = tcp_reno_ssthresh,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.owner = THIS_MODULE,
	.name = "my_cc",
};

static int __init my_cc_register(void)
{
	BUILD_BUG_ON(sizeof(struct my_cc) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&my_cc);
}
module_init(my_cc_register);

static void __exit my_cc_unregister(void)
{
	tcp_unregister_congestion_control(&my_cc);
}
module_exit(my_cc_unregister);
MODULE_LICENSE("GPL");
