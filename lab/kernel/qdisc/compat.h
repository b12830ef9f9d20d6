/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the lab's qdiscs share: how they register, and what differs between the kernels
 * that they are for (6.1 to 7.3).
 */
#ifndef LAB_QDISC_COMPAT_H
#define LAB_QDISC_COMPAT_H

#include <linux/device/driver.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/version.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

/* A module that does nothing else than register a qdisc. */
#define module_qdisc(ops) module_driver(ops, register_qdisc, unregister_qdisc)

/* Before 6.9 the kernel requested the module by its own name. */
#ifndef MODULE_ALIAS_NET_SCH
#define MODULE_ALIAS_NET_SCH(kind) MODULE_ALIAS("sch_" kind)
#endif

/* Before 6.13 a timer's function was set apart from the rest. */
#if LINUX_VERSION_MAJOR == 6 && LINUX_VERSION_PATCHLEVEL < 13
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* LAB_QDISC_COMPAT_H */
