/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drain of SEARCH 4.0: after the exit, cwnd follows what is in flight down to
 * ssthresh, so that the queue which slow start has built empties and the flow goes on
 * with about one bandwidth-delay product.  So that it never falls silent, one packet
 * is granted for each SEARCH_DRAIN_PKTS_A_GRANT that were delivered.
 *
 * Growth is off meanwhile: CUBIC would take the window before the drain for the one to
 * return to.  The drain ends at ssthresh, and with whatever reduces or restarts cwnd by
 * itself.
 */
#ifndef TCP_SEARCH_DRAIN_H
#define TCP_SEARCH_DRAIN_H

#ifdef SEARCH_DRAINS

#define SEARCH_DRAIN_PKTS_A_GRANT 3

static void search_drain_begin(struct sock *sk)
{
	struct tcp_search *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (tp->snd_ssthresh >= tcp_snd_cwnd(tp))
		return;
	ca->drain_pkts = tp->snd_ssthresh;
	ca->drained_pkts = 0;
}

static void search_drain_end(struct tcp_search *ca)
{
	ca->drain_pkts = 0;
}

static void search_drain(struct sock *sk, u32 acked_pkts)
{
	struct tcp_search *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 delivered_pkts = ca->drained_pkts + acked_pkts;
	u32 cwnd_pkts;

	if (!ca->drain_pkts)
		return;
	if (inet_csk(sk)->icsk_ca_state > TCP_CA_Disorder) {
		search_drain_end(ca);
		return;
	}
	cwnd_pkts = tcp_packets_in_flight(tp) + delivered_pkts / SEARCH_DRAIN_PKTS_A_GRANT;
	ca->drained_pkts = delivered_pkts % SEARCH_DRAIN_PKTS_A_GRANT;
	cwnd_pkts = clamp(cwnd_pkts, ca->drain_pkts, max(ca->drain_pkts, tcp_snd_cwnd(tp)));
	tcp_snd_cwnd_set(tp, cwnd_pkts);
	if (cwnd_pkts == ca->drain_pkts)
		search_drain_end(ca);
}

static void search_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	const struct tcp_search *ca = inet_csk_ca(sk);

	if (!ca->drain_pkts)
		cubictcp_cong_avoid(sk, ack, acked);
}

#else

static void search_drain_begin(struct sock *sk) { }
static void search_drain_end(struct tcp_search *ca) { }
static void search_drain(struct sock *sk, u32 acked_pkts) { }
#define search_cong_avoid cubictcp_cong_avoid

#endif /* SEARCH_DRAINS */

#endif /* TCP_SEARCH_DRAIN_H */
