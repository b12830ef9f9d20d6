// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Module parameters of tcp_search.  A value out of range is refused with -EINVAL,
 * at load and in /sys/module/tcp_search/parameters alike.  A flow takes them over
 * when it starts and keeps them: a change holds for flows to come.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "tcp_search_params.h"

struct bounded_param {
	u32 value;
	u32 min;
	u32 max;
};

static int bounded_param_set(const char *text, const struct kernel_param *kp)
{
	struct bounded_param *param = kp->arg;
	u32 value;

	if (kstrtou32(text, 10, &value) || value < param->min || value > param->max) {
		pr_err("%s=%.*s: must be a whole number from %u to %u\n", kp->name,
		       (int)strcspn(text, "\n"), text, param->min, param->max);
		return -EINVAL;
	}
	WRITE_ONCE(param->value, value);
	return 0;
}

static int bounded_param_get(char *buffer, const struct kernel_param *kp)
{
	const struct bounded_param *param = kp->arg;

	return sysfs_emit(buffer, "%u\n", READ_ONCE(param->value));
}

static const struct kernel_param_ops bounded_param_ops = {
	.set = bounded_param_set,
	.get = bounded_param_get,
};

#define BOUNDED_PARAM(name, NAME, initial)				\
	static struct bounded_param name __read_mostly = {		\
		.value = initial,					\
		.min = SEARCH_##NAME##_MIN,				\
		.max = SEARCH_##NAME##_MAX,				\
	};								\
	module_param_cb(name, &bounded_param_ops, &name, 0644);		\
	__MODULE_PARM_TYPE(name, "uint")

BOUNDED_PARAM(window_factor_tenths, WINDOW_FACTOR_TENTHS, 35);
MODULE_PARM_DESC(window_factor_tenths,
		 "window of delivered bytes, in tenths of the initial RTT (5 to 100, default 35)");

BOUNDED_PARAM(bins, BINS, 10);
MODULE_PARM_DESC(bins, "bins in a window (5 to 100, default 10)");

BOUNDED_PARAM(extra_bins, EXTRA_BINS, 15);
MODULE_PARM_DESC(extra_bins, "bins kept for looking one RTT back (1 to 200, default 15)");

BOUNDED_PARAM(threshold_pct, THRESHOLD_PCT, 35);
MODULE_PARM_DESC(threshold_pct,
		 "normalized difference that ends slow start, in percent (1 to 100, default 35)");

void tcp_search_params_get(struct search_params *params)
{
	params->window_factor_tenths = READ_ONCE(window_factor_tenths.value);
	params->bins = READ_ONCE(bins.value);
	params->extra_bins = READ_ONCE(extra_bins.value);
	params->threshold_pct = READ_ONCE(threshold_pct.value);
}
