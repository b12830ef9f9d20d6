/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What search.bpf.c needs of BPF, for a kernel without it: the same file as a module.  A flow's
 * bins lie in memory of their own, by a pointer at the end of the socket's private bytes.
 */
#ifndef SEARCH_BPF_MODULE_H
#define SEARCH_BPF_MODULE_H

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#define KERNEL_CUBIC_OPS search_bpf
#include "kernel_cubic.h"

#include <linux/slab.h>

#include "search_trace.h"
#include "slow_start.h"

#undef search_export	/* tcp_search_core exports the same names */
#define search_export(name) static_assert(true, #name)

#define SEARCH_BPF_SLOTS 64

#define SEC(name) static
#define BPF_PROG(name, args...) name(args)
#define BPF_SK_STORAGE_GET_F_CREATE 1

#define search_bits(from, field) ((from)->field)

/* CUBIC's part first: inet_csk_ca() is its, too. */
struct search_bpf_private {
	u8 cubic[ICSK_CA_PRIV_SIZE - sizeof(void *)];
	void *held;
};

static_assert(sizeof(struct bictcp) <= offsetof(struct search_bpf_private, held));
static_assert(sizeof(struct search_bpf_private) == ICSK_CA_PRIV_SIZE);

static void *search_bpf_held(struct sock *sk, size_t bytes, u64 flags)
{
	struct search_bpf_private *private = inet_csk_ca(sk);

	if (!private->held && flags & BPF_SK_STORAGE_GET_F_CREATE)
		private->held = kzalloc(bytes, GFP_ATOMIC | __GFP_NOWARN);
	return private->held;
}

static void search_bpf_release_held(struct sock *sk)
{
	struct search_bpf_private *private = inet_csk_ca(sk);

	kfree(private->held);
	private->held = NULL;
}

/* A map is the size of what it holds. */
#define SEARCH_BPF_STORAGE(name, of)	static const size_t name = sizeof(of)
#define bpf_sk_storage_get(map, sk, value, flags) search_bpf_held(sk, *(map), flags)
#define bpf_sk_storage_delete(map, sk) search_bpf_release_held(sk)

static int __init search_bpf_load(void)
{
	search_bpf.owner = THIS_MODULE;
	return kernel_cubic_register();
}

module_init(search_bpf_load);
module_exit(kernel_cubic_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP CUBIC with SEARCH, the source of the BPF program compiled as a module");

#endif /* SEARCH_BPF_MODULE_H */
