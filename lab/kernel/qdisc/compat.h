/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between the kernels that the lab's qdiscs are for (6.1 and 6.12).
 */
#ifndef LAB_QDISC_COMPAT_H
#define LAB_QDISC_COMPAT_H

#include <linux/module.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

/* Before 6.9 the kernel requested the module by its own name. */
#ifndef MODULE_ALIAS_NET_SCH
#define MODULE_ALIAS_NET_SCH(kind) MODULE_ALIAS("sch_" kind)
#endif

#endif /* LAB_QDISC_COMPAT_H */
