// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * qdisc_sampler: reports at fixed intervals what waits in one interface's root qdisc, and what
 * it has sent and dropped, as trace event qdisc_sampler:qdisc_sample.
 *
 *	echo 1000 > /sys/module/qdisc_sampler/parameters/interval_us
 *	ip netns exec gateway sh -c 'echo eth2 > /sys/module/qdisc_sampler/parameters/dev'
 *
 * begins, on the interface of this name in the writer's network namespace; an empty name ends
 * it, and so does the end of the interface.
 *
 * Asking by netlink from user space costs 80 us a sample in the virtual kernel, most of it to
 * wake a process up: a sixth of a WiFi trial at a sample a millisecond.  The counters are
 * read without the qdisc's lock, each for itself.
 */
#include <linux/netdevice.h>
#include <linux/nsproxy.h>

#include "compat.h"

#define CREATE_TRACE_POINTS
#include "qdisc_sampler_trace.h"

static unsigned int interval_us = 1000;
module_param(interval_us, uint, 0644);
MODULE_PARM_DESC(interval_us, "Time between samples; in force for the next dev");

static DEFINE_MUTEX(sampler_lock);
static struct net_device *sampled;
static struct hrtimer timer;
static ktime_t interval;

static enum hrtimer_restart sampler_take(struct hrtimer *timer)
{
	rcu_read_lock();
	trace_qdisc_sample(rcu_dereference(sampled->qdisc));
	rcu_read_unlock();
	hrtimer_forward_now(timer, interval);
	return HRTIMER_RESTART;
}

static void sampler_begin(struct net_device *dev)
{
	sampled = dev;
	interval = ns_to_ktime((u64)interval_us * NSEC_PER_USEC);
	hrtimer_setup(&timer, sampler_take, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	hrtimer_start(&timer, ktime_get(), HRTIMER_MODE_ABS);
}

static void sampler_end(void)
{
	if (!sampled)
		return;
	hrtimer_cancel(&timer);
	dev_put(sampled);
	sampled = NULL;
}

static int sampler_set_dev(const char *text, const struct kernel_param *param)
{
	struct net_device *dev = NULL;
	char name[IFNAMSIZ];

	if (strscpy(name, text, sizeof(name)) < 0)
		return -ENAMETOOLONG;
	if (*strim(name)) {
		if (!interval_us)
			return -EINVAL;
		dev = dev_get_by_name(current->nsproxy->net_ns, strim(name));
		if (!dev)
			return -ENODEV;
	}
	mutex_lock(&sampler_lock);
	sampler_end();
	if (dev)
		sampler_begin(dev);
	mutex_unlock(&sampler_lock);
	return 0;
}

static int sampler_get_dev(char *buffer, const struct kernel_param *param)
{
	int len;

	mutex_lock(&sampler_lock);
	len = sysfs_emit(buffer, "%s\n", sampled ? sampled->name : "");
	mutex_unlock(&sampler_lock);
	return len;
}

static const struct kernel_param_ops sampler_dev_ops = {
	.set = sampler_set_dev,
	.get = sampler_get_dev,
};
module_param_cb(dev, &sampler_dev_ops, NULL, 0644);
MODULE_PARM_DESC(dev, "Interface, in the network namespace of who writes it; empty: none");

static int sampler_notice(struct notifier_block *block, unsigned long event, void *info)
{
	mutex_lock(&sampler_lock);
	if (event == NETDEV_UNREGISTER && netdev_notifier_info_to_dev(info) == sampled)
		sampler_end();
	mutex_unlock(&sampler_lock);
	return NOTIFY_DONE;
}

static struct notifier_block sampler_notifier = { .notifier_call = sampler_notice };

static int __init qdisc_sampler_init(void)
{
	return register_netdevice_notifier(&sampler_notifier);
}
module_init(qdisc_sampler_init);

static void __exit qdisc_sampler_exit(void)
{
	unregister_netdevice_notifier(&sampler_notifier);
	sampler_end();
}
module_exit(qdisc_sampler_exit);

MODULE_DESCRIPTION("Samples of what waits in an interface's root qdisc");
MODULE_LICENSE("GPL");
