/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Module parameters that are whole numbers within a range.  A value out of range is
 * refused with -EINVAL and one line in the log, at load and in
 * /sys/module/<module>/parameters alike.
 *
 *	static u32 rounds = 5;
 *	BOUNDED_PARAM(rounds, &rounds, 1, 255, 0644);
 *	... READ_ONCE(rounds) ...
 *
 * Define pr_fmt before including.
 */
#ifndef BOUNDED_PARAM_H
#define BOUNDED_PARAM_H

#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/sysfs.h>

struct bounded_param {
	u32 *value;
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
	WRITE_ONCE(*param->value, value);
	return 0;
}

static int bounded_param_get(char *buffer, const struct kernel_param *kp)
{
	const struct bounded_param *param = kp->arg;

	return sysfs_emit(buffer, "%u\n", READ_ONCE(*param->value));
}

static const struct kernel_param_ops bounded_param_ops = {
	.set = bounded_param_set,
	.get = bounded_param_get,
};

#define BOUNDED_PARAM(name, where, least, most, mode)			\
	static struct bounded_param name##_param = {			\
		.value = where,						\
		.min = least,						\
		.max = most,						\
	};								\
	module_param_cb(name, &bounded_param_ops, &name##_param, mode);	\
	__MODULE_PARM_TYPE(name, "uint")

#endif /* BOUNDED_PARAM_H */
