/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What search.bpf.c needs of a stock kernel: the fields of its structures, found by name in the
 * running kernel's BTF when the program is loaded; its CUBIC, by kfuncs; and where a module
 * has a tracepoint, a map of exits.
 */
#ifndef SEARCH_BPF_STOCK_H
#define SEARCH_BPF_STOCK_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* What search_shim.h says of the verifier.  A ring has fewer slots than this, a power of two. */
#define SEARCH_BPF_SLOTS 64
#define search_slot_below_end(slot) ((slot) & (SEARCH_BPF_SLOTS - 1))
#define search_for(i, from, below) bpf_for(i, from, below)

/* A function that is verified where it is called, with what is known there of its arguments. */
#pragma GCC visibility push(hidden)
#include "search_compare.h"
#pragma GCC visibility pop

#define TCP_CA_NAME_MAX	16

enum { TCP_CA_CWR = 2, TCP_CA_Recovery = 3, TCP_CA_Loss = 4 };	/* enum tcp_ca_state */
enum tcp_ca_event { CA_EVENT_CWND_RESTART = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock_common {
	__u16 skc_num;
	__be16 skc_dport;
};

struct sock {
	struct sock_common __sk_common;
};

struct inet_connection_sock {
	__u8 icsk_ca_state:5;
	__u64 icsk_ca_priv[13];
};

struct tcp_rack {
	__u32 rtt_us;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	struct tcp_rack rack;
	__u64 tcp_mstamp;
	__u64 bytes_acked;
	__u64 bytes_sent;
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
	__u32 prior_cwnd;
	__u32 max_packets_out;
	__u32 mss_cache;
	__u8 is_cwnd_limited:1;
};

/* tcp_cubic.c's, at the beginning of icsk_ca_priv */
struct bictcp {
	__u8 found;
};

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us;
};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event ev);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*undo_cwnd)(struct sock *sk);
	char name[TCP_CA_NAME_MAX];
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

#pragma clang attribute pop

extern void cubictcp_init(struct sock *sk) __ksym;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern __u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym;
extern void cubictcp_state(struct sock *sk, __u8 new_state) __ksym;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym;
extern void cubictcp_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

#define search_bits(from, field) BPF_CORE_READ_BITFIELD(from, field)

static __always_inline struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline void *inet_csk_ca(const struct sock *sk)
{
	return tcp_sk(sk)->inet_conn.icsk_ca_priv;
}

#define SEARCH_BPF_STORAGE(name, of)			\
struct {						\
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);		\
	__uint(map_flags, BPF_F_NO_PREALLOC);		\
	__type(key, int);				\
	__type(value, of);				\
} name SEC(".maps")

/* A module's tracepoints (search_trace.h); of these, stock kernels have none. */
#define trace_search_ack_enabled() false
#define trace_search_ack(sk, ack, starts)
#define trace_search_bin(sk, decision)

#include "search_bpf_exits.h"

char _license[] SEC("license") = "GPL";

#endif /* SEARCH_BPF_STOCK_H */
