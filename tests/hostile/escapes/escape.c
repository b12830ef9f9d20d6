// SPDX-License-Identifier: GPL-2.0-or-later
// A module that leaves User Mode Linux: its system calls are the host's.
// probe: makes each call of probes.h, and prints what it returns. int80: the same by the entry of 32-bit programs.
// stay: leaves a process that never ends. open: opens each of `paths` to write.
// fork, memory, memfd: take processes, memory, and memory of a file without end.
#include <linux/module.h>

static char *act = "probe";
static char *alive = "";
module_param(act, charp, 0);
static char *paths = "";
module_param(alive, charp, 0);
module_param(paths, charp, 0);

struct probe {
	long call[7];
};

static const struct probe probes[] = {
#include "probes.h"
};

enum { SYS_write = 1, SYS_open = 2, SYS_mmap = 9, SYS_pause = 34, SYS_nanosleep = 35, SYS_clone = 56 };
enum { SYS_creat = 85, SYS_setpgid = 109, SYS_setsid = 112, SYS_memfd_create = 319 };
enum { SIGCHLD_ = 17, O_RDWR_CREAT = 0102, READ_WRITE = 3, PRIVATE_ANONYMOUS = 0x22, CHUNK = 8 << 20 };

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

static long host_of_32_bits(long number, long a, long b, long c)
{
	long result;

	asm volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
	return result;
}

static void probe_all(bool of_32_bits)
{
	const long *call;
	long result;
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		call = probes[i].call;
		result = of_32_bits ? host_of_32_bits(call[0], call[1], call[2], call[3]) :
				      host(call[0], call[1], call[2], call[3], call[4], call[5], call[6]);
		pr_info("probe %d = %ld\n", i, result);
	}
}

static void open_all(void)
{
	char *path;

	while ((path = strsep(&paths, ",")))
		pr_info("open %s = %ld\n", path, host(SYS_open, (long)path, O_RDWR_CREAT, 0600, 0, 0, 0));
}

static void fork_on(void)
{
	long pid;

	while ((pid = host(SYS_clone, SIGCHLD_, 0, 0, 0, 0, 0)) > 0)
		;
	while (!pid)
		host(SYS_pause, 0, 0, 0, 0, 0, 0);
	pr_info("fork = %ld\n", pid);
}

static void take_memory(void)
{
	long at;

	while ((at = host(SYS_mmap, 0, CHUNK, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0)) > 0)
		memset((void *)at, 1, CHUNK);
	pr_info("mmap = %ld\n", at);
}

static void take_files(void)
{
	static char chunk[CHUNK];
	long file, written = 0;

	do {
		file = host(SYS_memfd_create, (long)"x", 0, 0, 0, 0, 0);
		if (file >= 0)
			written = host(SYS_write, file, (long)chunk, CHUNK, 0, 0, 0);
	} while (file >= 0 && written > 0);
	pr_info("memfd = %ld, written = %ld\n", file, written);
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
	else if (!strcmp(act, "open"))
		open_all();
	else if (!strcmp(act, "fork"))
		fork_on();
	else if (!strcmp(act, "memory"))
		take_memory();
	else if (!strcmp(act, "memfd"))
		take_files();
	else
		probe_all(!strcmp(act, "int80"));
	return 0;
}
module_init(escape_init);
MODULE_LICENSE("GPL");
