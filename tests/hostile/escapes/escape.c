// SPDX-License-Identifier: GPL-2.0-or-later
// A module that leaves User Mode Linux: its system calls are the host's.
// probe: makes each call of probes.h, and prints what it returns. stay: leaves a process that never ends.
#include <linux/module.h>

static char *act = "probe";
static char *alive = "";
module_param(act, charp, 0);
module_param(alive, charp, 0);

struct probe {
	long call[7];
};

static const struct probe probes[] = {
#include "probes.h"
};

enum { SYS_nanosleep = 35, SYS_clone = 56, SYS_creat = 85, SYS_setpgid = 109, SYS_setsid = 112 };
enum { SIGCHLD_ = 17 };

static long host(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 asm("r10") = d;
	register long r8 asm("r8") = e;
	register long r9 asm("r9") = f;
	long result;

	asm volatile("syscall"
		     : "=a"(result)
		     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		     : "rcx", "r11", "memory");
	return result;
}

static void probe_all(void)
{
	const long *call;
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		call = probes[i].call;
		pr_info("probe %d = %ld\n", i, host(call[0], call[1], call[2], call[3], call[4], call[5], call[6]));
	}
}

static void stay(void)
{
	static long second[2] = { 1, 0 };
	long pid = host(SYS_clone, SIGCHLD_, 0, 0, 0, 0, 0);

	if (pid) {
		pr_info("stays: %ld\n", pid);
		return;
	}
	host(SYS_setsid, 0, 0, 0, 0, 0, 0);
	host(SYS_setpgid, 0, 0, 0, 0, 0, 0);
	host(SYS_creat, (long)alive, 0600, 0, 0, 0, 0);
	for (;;)
		host(SYS_nanosleep, (long)second, 0, 0, 0, 0, 0);
}

static int __init escape_init(void)
{
	if (!strcmp(act, "stay"))
		stay();
	else
		probe_all();
	return 0;
}
module_init(escape_init);
MODULE_LICENSE("GPL");
