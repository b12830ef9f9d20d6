// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's part of the program: a socket in plain memory, and ACKs for the hooks of
 * the sender that is linked in.  Its module's init gives the hooks away by registering.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/tcp.h>

static struct tcp_sock sock;
static struct net net;
static struct linux_mib mib;
static const struct tcp_congestion_ops *ops;

int bench_init_module(void);
void bench_begin(void);
void bench_leave_slow_start(void);
void bench_ack(u64 now_us, s32 rtt_us, u32 acked_pkts);
u32 bench_cwnd(void);

int tcp_register_congestion_control(struct tcp_congestion_ops *type)
{
	ops = type;
	return 0;
}

void bench_begin(void)
{
	struct sock *sk = (struct sock *)&sock;

	net.mib.net_statistics = (void *)&mib;
	sock_net_set(sk, &net);
	sock.snd_cwnd = 10;
	sock.snd_ssthresh = TCP_INFINITE_SSTHRESH;
	sock.snd_cwnd_clamp = ~0;
	sock.mss_cache = 1448;
	sock.is_cwnd_limited = 1;
	sk->sk_pacing_rate = ~0UL;
	if (ops->init)
		ops->init(sk);
}

void bench_leave_slow_start(void)
{
	sock.snd_ssthresh = sock.snd_cwnd;
}

u32 bench_cwnd(void)
{
	return sock.snd_cwnd;
}

void bench_ack(u64 now_us, s32 rtt_us, u32 acked_pkts)
{
	struct ack_sample sample = { .pkts_acked = acked_pkts, .rtt_us = rtt_us };
	struct sock *sk = (struct sock *)&sock;
	u32 acked_bytes = acked_pkts * sock.mss_cache;

	sock.tcp_mstamp = now_us;
	sock.bytes_acked += acked_bytes;
	sock.snd_una += acked_bytes;
	sock.delivered += acked_pkts;
	sock.bytes_sent += 2 * acked_bytes;
	sock.snd_nxt = sock.snd_una + sock.snd_cwnd * sock.mss_cache;
	ops->pkts_acked(sk, &sample);
	ops->cong_avoid(sk, sock.snd_una, acked_pkts);
}

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A socket that is fed ACKs, to count what its sender costs");
