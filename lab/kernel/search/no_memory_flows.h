/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flows that got no memory for their state: what they run instead, and how many there are.  The parameter
 * no_memory_flows shows the count.
 *
 *	NO_MEMORY_FLOWS("plain CUBIC");
 *	... no_memory_flow("SEARCH");
 *
 * Define pr_fmt before including.
 */
#ifndef NO_MEMORY_FLOWS_H
#define NO_MEMORY_FLOWS_H

#include <linux/atomic.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/sysfs.h>

static atomic_t no_memory_count = ATOMIC_INIT(0);

static int no_memory_flows_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%u\n", atomic_read(&no_memory_count));
}

static const struct kernel_param_ops no_memory_flows_ops = {
	.get = no_memory_flows_get,
};

#define NO_MEMORY_FLOWS(runs)								\
	module_param_cb(no_memory_flows, &no_memory_flows_ops, NULL, 0444);		\
	MODULE_PARM_DESC(no_memory_flows,						\
			 "flows that run " runs " because there was no memory for their state (read only)"); \
	static void no_memory_flow(const char *what)					\
	{										\
		atomic_inc(&no_memory_count);						\
		pr_warn_ratelimited("no memory for %s: this flow runs " runs "\n", what); \
	}										\
	static_assert(true)

#endif /* NO_MEMORY_FLOWS_H */
