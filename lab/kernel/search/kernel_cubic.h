/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own CUBIC, without HyStart, for a module that registers it (or what
 * it makes of it) under another name.
 *
 * Compiles the kernel tree's net/ipv4/tcp_cubic.c into the including file, so its
 * hooks (cubictcp_init(), ...) are plain static functions there, and the CUBIC
 * under test is that of the running kernel, unchanged.  What of that file speaks
 * for a module of its own is kept from it: its initcalls, parameters and MODULE_*
 * tags, its kfunc registration, and the ops table it registers.
 *
 * Before including, define KERNEL_CUBIC_OPS as the name of a static struct
 * tcp_congestion_ops.  cubictcp_register(), which also computes CUBIC's scaling
 * factors, then registers that table, and cubictcp_unregister() takes it away.
 *
 * Define KERNEL_CUBIC_HYSTART as 1 for a CUBIC that keeps HyStart.
 *
 * Kbuild defines KERNEL_CUBIC_SOURCE.  CUBIC keeps the kernel's default parameters.
 */
#ifndef KERNEL_CUBIC_H
#define KERNEL_CUBIC_H

/* All that tcp_cubic.c includes, so that the macros below change no header. */
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/version.h>
#include <net/tcp.h>

#ifndef KERNEL_CUBIC_HYSTART
#define KERNEL_CUBIC_HYSTART 0
#endif

static struct tcp_congestion_ops KERNEL_CUBIC_OPS __read_mostly;

#pragma push_macro("module_init")
#pragma push_macro("module_exit")
#pragma push_macro("module_param")
#pragma push_macro("MODULE_PARM_DESC")
#pragma push_macro("MODULE_AUTHOR")
#pragma push_macro("MODULE_LICENSE")
#pragma push_macro("MODULE_DESCRIPTION")
#pragma push_macro("MODULE_VERSION")
#pragma push_macro("__bpf_kfunc")

#undef module_init
#undef module_exit
#undef module_param
#undef MODULE_PARM_DESC
#undef MODULE_AUTHOR
#undef MODULE_LICENSE
#undef MODULE_DESCRIPTION
#undef MODULE_VERSION
#undef __bpf_kfunc

/* An empty declaration each, for the semicolon that follows. */
#define module_init(...)		static_assert(true)
#define module_exit(...)		static_assert(true)
#define module_param(...)		static_assert(true)
#define MODULE_PARM_DESC(...)		static_assert(true)
#define MODULE_AUTHOR(...)		static_assert(true)
#define MODULE_LICENSE(...)		static_assert(true)
#define MODULE_DESCRIPTION(...)		static_assert(true)
#define MODULE_VERSION(...)		static_assert(true)

/* The hooks are kfuncs of the kernel's own CUBIC, for BPF; not of this module: here they
 * become part of what calls them, which saves a call for each ACK.
 */
#define __bpf_kfunc __always_inline
#define register_btf_kfunc_id_set(type, set)	((void)(set), 0)

/* A macro is not expanded within itself: these call the functions they name. */
#define tcp_register_congestion_control(ops) \
	((void)(ops), tcp_register_congestion_control(&KERNEL_CUBIC_OPS))
#define tcp_unregister_congestion_control(ops) \
	((void)(ops), tcp_unregister_congestion_control(&KERNEL_CUBIC_OPS))

#include KERNEL_CUBIC_SOURCE

#undef register_btf_kfunc_id_set
#undef tcp_register_congestion_control
#undef tcp_unregister_congestion_control

#pragma pop_macro("module_init")
#pragma pop_macro("module_exit")
#pragma pop_macro("module_param")
#pragma pop_macro("MODULE_PARM_DESC")
#pragma pop_macro("MODULE_AUTHOR")
#pragma pop_macro("MODULE_LICENSE")
#pragma pop_macro("MODULE_DESCRIPTION")
#pragma pop_macro("MODULE_VERSION")
#pragma pop_macro("__bpf_kfunc")

/* Since 7.1 the start after idle, the one event that CUBIC takes, is a hook of its own. */
#if LINUX_VERSION_MAJOR > 7 || (LINUX_VERSION_MAJOR == 7 && LINUX_VERSION_PATCHLEVEL >= 1)
#define KERNEL_CUBIC_TAKE_START() \
	(KERNEL_CUBIC_OPS.cwnd_event_tx_start = cubictcp_cwnd_event_tx_start)

static inline void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
}
#else
#define KERNEL_CUBIC_TAKE_START()
#endif

/* A flow's state fits into its socket, and CUBIC's part comes first: inet_csk_ca() is its, too. */
#define KERNEL_CUBIC_HOLDS(type) \
	static_assert(sizeof(type) <= ICSK_CA_PRIV_SIZE && !offsetof(type, cubic))

static int __init kernel_cubic_register(void)
{
	hystart = KERNEL_CUBIC_HYSTART;
	KERNEL_CUBIC_TAKE_START();
	return cubictcp_register();
}

static void __exit kernel_cubic_unregister(void)
{
	cubictcp_unregister();
}

#endif /* KERNEL_CUBIC_H */
