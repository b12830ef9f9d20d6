/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the family's modules share: pacing, the first retransmission, and cong_control's form in each kernel. */
#ifndef STARTUP_PACING_H
#define STARTUP_PACING_H

#include <linux/math64.h>
#include <linux/version.h>
#include <net/tcp.h>

/* Since 6.10 cong_control also gets the ACK and its flags, which no sender here needs. */
#if LINUX_VERSION_MAJOR > 6 || (LINUX_VERSION_MAJOR == 6 && LINUX_VERSION_PATCHLEVEL >= 10)
#define STARTUP_CONG_CONTROL_ARGS struct sock *sk, u32 ack, int flag, const struct rate_sample *rs
#else
#define STARTUP_CONG_CONTROL_ARGS struct sock *sk, const struct rate_sample *rs
#endif

/* A flow that this end opens has its first ACK, that of the SYN, before its init: there is no state yet. */
#define STARTUP_CONG_CONTROL(name)						\
	static void name##_ack(struct sock *sk, const struct rate_sample *rs);	\
	static void name(STARTUP_CONG_CONTROL_ARGS)				\
	{									\
		if (inet_csk(sk)->icsk_ca_initialized)				\
			name##_ack(sk, rs);					\
	}									\
	static void name##_ack(struct sock *sk, const struct rate_sample *rs)

/* Packets leave at sk_pacing_rate: by fq where the interface has it, else by TCP's own timer. */
static inline void startup_pacing_on(struct sock *sk)
{
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
}

/* @pct percent of a window of @cwnd_pkts in each round trip of @rtt_us. */
static inline void startup_pace(struct sock *sk, u32 cwnd_pkts, u32 rtt_us, u32 pct)
{
	u64 rate = (u64)tcp_sk(sk)->mss_cache * cwnd_pkts * pct * (USEC_PER_SEC / 100);

	rate = div_u64(rate, max(rtt_us, 1U));
	WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate)));
}

#define STARTUP_MOST_PKTS	(1U << 24)

static inline void startup_set_window(struct sock *sk, u32 cwnd_pkts)
{
	struct tcp_sock *tp = tcp_sk(sk);

	cwnd_pkts = min3(cwnd_pkts, tp->snd_cwnd_clamp, STARTUP_MOST_PKTS);
	tcp_snd_cwnd_set(tp, max(cwnd_pkts, 1U));
}

static inline u32 startup_srtt_us(const struct sock *sk)
{
	return tcp_sk(sk)->srtt_us >> 3;
}

/*
 * The first lost packet is sent again at once, whatever the window (RFC 6675, section 5, step 4.3):
 * else the timeout, which counts from its first transmission, may come first.
 */
static inline void startup_allow_retransmission(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd_pkts = tcp_packets_in_flight(tp) + 1;

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery && !tp->retrans_out &&
	    tcp_snd_cwnd(tp) < cwnd_pkts)
		tcp_snd_cwnd_set(tp, cwnd_pkts);
}

/* As Linux paces slow start and congestion avoidance. */
#define STARTUP_SLOW_START_PCT	200
#define STARTUP_AVOIDANCE_PCT	120

#endif /* STARTUP_PACING_H */
