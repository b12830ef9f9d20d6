/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frame's own calls do nothing here: only your four functions are called. */
#ifndef FUNCTIONS_TCP_H
#define FUNCTIONS_TCP_H

#include <linux/module.h>

#define ICSK_CA_PRIV_SIZE 104
#define TCP_INFINITE_SSTHRESH 0x7fffffff

struct sock {
	int unused;
};

struct tcp_sock {
	u32 snd_nxt, snd_una, snd_ssthresh, snd_cwnd;
	struct {
		u32 rtt_us;
	} rack;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
};

struct tcp_congestion_ops {
	void (*init)(struct sock *sk);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, u8 new_state);
	u32 (*undo_cwnd)(struct sock *sk);
	void *owner;
	char name[16];
};

struct tcp_sock *tcp_sk(const struct sock *sk);
void *inet_csk_ca(const struct sock *sk);
bool tcp_in_cwnd_reduction(const struct sock *sk);
bool tcp_is_cwnd_limited(const struct sock *sk);
u32 tcp_snd_cwnd(const struct tcp_sock *tp);
u32 tcp_slow_start(struct tcp_sock *tp, u32 acked);
void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked);
u32 tcp_reno_ssthresh(struct sock *sk);
u32 tcp_reno_undo_cwnd(struct sock *sk);
int tcp_register_congestion_control(struct tcp_congestion_ops *ops);
void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops);

#endif
