// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's part of the program: a socket in plain memory, and ACKs for the hooks of
 * the sender that is linked in.  Its module's init gives the hooks away by registering.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#include "slow_start.h"

static struct tcp_sock sock;
static struct net net;
static struct linux_mib mib;
static const struct tcp_congestion_ops *ops;
static u32 exits;

int bench_init_module(void);
void bench_begin(u32 rtt_us);
void bench_leave_slow_start(void);
u32 bench_exits(void);
void bench_ack(u64 now_us, s32 rtt_us, u32 acked_pkts, u32 round_pkts);

int tcp_register_congestion_control(struct tcp_congestion_ops *type)
{
	ops = type;
	return 0;
}

/* Memory of a module in the one network namespace. */
int register_pernet_subsys(struct pernet_operations *pernet)
{
	static union {
		struct net_generic generic;
		void *ptr[8];
	} memories;
	static u64 memory[8];

	*pernet->id = ARRAY_SIZE(memories.ptr) - 1;
	memories.ptr[*pernet->id] = memory;
	net.gen = &memories.generic;
	return pernet->size > sizeof(memory) ? -ENOMEM : 0;
}

/* Of TCP, the exit's record and the random pool: what hooks call. */
int tcp_mss_to_mtu(struct sock *sk, int mss)
{
	return mss + 40;
}

void slow_start_left_ago(struct sock *sk, u32 cwnd_pkts, u32 rtt_us, const char *cause, u64 late_ns)
{
	exits++;
}

u32 get_random_u32(void)
{
	return 4;
}

void bench_begin(u32 rtt_us)
{
	struct sock *sk = (struct sock *)&sock;

	net.mib.net_statistics = (void *)&mib;
	sock_net_set(sk, &net);
	sock.snd_cwnd = 10;
	sock.snd_ssthresh = TCP_INFINITE_SSTHRESH;
	sock.snd_cwnd_clamp = ~0;
	sock.mss_cache = 1448;
	sock.is_cwnd_limited = 1;
	sock.srtt_us = rtt_us << 3;
	minmax_reset(&sock.rtt_min, 0, rtt_us);
	sk->sk_pacing_rate = ~0UL;
	sk->sk_max_pacing_rate = ~0UL;
	sk->sk_gso_max_size = SZ_64K;
	inet_csk(sk)->icsk_ca_ops = ops;
	inet_csk(sk)->icsk_ca_initialized = 1;
	if (ops->init)
		ops->init(sk);
}

void bench_leave_slow_start(void)
{
	sock.snd_ssthresh = sock.snd_cwnd;
}

u32 bench_exits(void)
{
	return exits;
}

/* As tcp_ack() does, of a packet that was sent when the last @round_pkts were not yet delivered. */
void bench_ack(u64 now_us, s32 rtt_us, u32 acked_pkts, u32 round_pkts)
{
	struct ack_sample sample = { .pkts_acked = acked_pkts, .rtt_us = rtt_us };
	struct sock *sk = (struct sock *)&sock;
	const struct tcp_congestion_ops *hooks = inet_csk(sk)->icsk_ca_ops;
	u32 acked_bytes = acked_pkts * sock.mss_cache;
	struct rate_sample rate = {
		.prior_mstamp = now_us - rtt_us,
		.prior_in_flight = sock.packets_out,
		.rtt_us = rtt_us,
		.interval_us = rtt_us,
		.delivered = round_pkts,
		.acked_sacked = acked_pkts,
	};

	sock.tcp_mstamp = now_us;
	sock.bytes_acked += acked_bytes;
	sock.snd_una += acked_bytes;
	sock.delivered += acked_pkts;
	sock.bytes_sent += 2 * acked_bytes;
	sock.packets_out = sock.snd_cwnd;
	sock.snd_nxt = sock.snd_una + sock.snd_cwnd * sock.mss_cache;
	rate.prior_delivered = sock.delivered - round_pkts;
	rate.last_end_seq = sock.snd_una;
	if (hooks->pkts_acked)
		hooks->pkts_acked(sk, &sample);
	if (hooks->cong_control)
		hooks->cong_control(sk, sock.snd_una, 0, &rate);
	else
		hooks->cong_avoid(sk, sock.snd_una, acked_pkts);
}

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A socket that is fed ACKs, to count what its sender costs");
