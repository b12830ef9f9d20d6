// SPDX-License-Identifier: GPL-2.0-or-later
// A module that leaves User Mode Linux: its system calls are the host's.
// probe: makes each call of probes.h, and prints what it returns. int80: the same by the entry of 32-bit programs.
// stay: leaves a process that never ends. open: opens each of `paths` to write.
// fork, memory, memfd, files: take processes, memory, memory of a file, and disk in the working folder.
// threads, mapped, thread_memfd, orphan: take threads; files that are only mapped; files that only a thread has open; and
// memory of a process whose first thread has ended. descriptors: takes them. What nobody stops waits for WAIT_S.
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
enum { SYS_close = 3, SYS_rt_sigprocmask = 14, SYS_dup = 32, SYS_exit = 60 };
enum { SIGCHLD_ = 17, O_RDWR_CREAT = 0102, READ_WRITE = 3, PRIVATE_ANONYMOUS = 0x22, SHARED = 1, CHUNK = 8 << 20 };
enum { PAGE = 4096, MOST_CHUNKS = 48, MOST_THREADS = 1000, WAIT_S = 10, STACK = 16384 };
enum { THREAD = 0x00010900 }; // CLONE_VM | CLONE_SIGHAND | CLONE_THREAD: its descriptors are a copy

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

static void wait_s(long seconds)
{
	long time[2] = { seconds, 0 };

	host(SYS_nanosleep, (long)time, 0, 0, 0, 0, 0);
}

// Starts a thread that calls a function on a stack of its own, and never returns; all its signals are blocked.
static long spawn(void (*begin)(void))
{
	static char stack[STACK] __aligned(16);
	static unsigned long all = ~0ul, before;
	register long r10 asm("r10") = 0;
	register long r8 asm("r8") = 0;
	long result;

	host(SYS_rt_sigprocmask, 0, (long)&all, (long)&before, 8, 0, 0);
	asm volatile("syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\tcall *%[begin]\n1:"
		     : "=a"(result)
		     : "a"((long)SYS_clone), "D"((long)THREAD), "S"(stack + STACK), "d"(0l), "r"(r10), "r"(r8),
		       [begin] "b"(begin)
		     : "rcx", "r11", "memory");
	host(SYS_rt_sigprocmask, 2, (long)&before, 0, 8, 0, 0);
	return result;
}

// Needs no stack: all of them have the same one.
__attribute__((naked)) static void pause_for_good(void)
{
	asm volatile("1: mov $34, %eax\n\tsyscall\n\tjmp 1b");
}

static void spawn_many(void)
{
	int i;

	for (i = 0; i < MOST_THREADS && spawn(pause_for_good) > 0; i++)
		;
	pr_info("threads = %d\n", i);
	wait_s(WAIT_S);
}

static void map_files(void)
{
	static char chunk[CHUNK];
	long file;
	int i;

	for (i = 0; i < MOST_CHUNKS; i++) {
		file = host(SYS_memfd_create, (long)"x", 0, 0, 0, 0, 0);
		host(SYS_write, file, (long)chunk, CHUNK, 0, 0, 0);
		host(SYS_mmap, 0, PAGE, READ_WRITE, SHARED, file, 0);
		host(SYS_close, file, 0, 0, 0, 0, 0);
	}
	pr_info("mapped = %d\n", i);
	wait_s(WAIT_S);
}

static void fill_folder(void)
{
	static char chunk[CHUNK];
	char name[] = "a";
	long file = 0;
	int i;

	for (i = 0; i < MOST_CHUNKS && file >= 0; i++) {
		name[0] = 'A' + i;
		file = host(SYS_open, (long)name, O_RDWR_CREAT, 0600, 0, 0, 0);
		host(SYS_write, file, (long)chunk, CHUNK, 0, 0, 0);
	}
	pr_info("files = %ld\n", file);
	if (file >= 0)
		wait_s(WAIT_S);
}

static void take_descriptors(void)
{
	long file, most = 0;

	while ((file = host(SYS_dup, 0, 0, 0, 0, 0, 0)) > 0)
		most = file;
	pr_info("descriptors = %ld\n", most);
}

static void take_and_wait(bool memory)
{
	static char chunk[CHUNK];
	long at;
	int i;

	for (i = 0; i < MOST_CHUNKS; i++) {
		if (memory) {
			at = host(SYS_mmap, 0, CHUNK, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
			memset((void *)at, 1, CHUNK);
		} else {
			at = host(SYS_memfd_create, (long)"x", 0, 0, 0, 0, 0);
			host(SYS_write, at, (long)chunk, CHUNK, 0, 0, 0);
		}
	}
	for (;;)
		wait_s(WAIT_S);
}

static void thread_of_files(void)
{
	take_and_wait(false);
}

static void thread_of_memory(void)
{
	take_and_wait(true);
}

static void begin_thread(void)
{
	pr_info("thread = %ld\n", spawn(thread_of_files));
	wait_s(WAIT_S);
}

static void leave_orphan(void)
{
	static unsigned long all = ~0ul;
	long pid = host(SYS_clone, SIGCHLD_, 0, 0, 0, 0, 0);

	if (!pid) {
		host(SYS_rt_sigprocmask, 0, (long)&all, 0, 8, 0, 0);
		spawn(thread_of_memory);
		host(SYS_exit, 0, 0, 0, 0, 0, 0);
	}
	pr_info("orphan = %ld\n", pid);
	wait_s(WAIT_S);
}

static void stay(void)
{
	static long second[2] = { 1, 0 };
	static unsigned long all = ~0ul;
	long pid = host(SYS_clone, SIGCHLD_, 0, 0, 0, 0, 0);

	if (pid) {
		pr_info("stays: %ld\n", pid);
		return;
	}
	host(SYS_rt_sigprocmask, 0, (long)&all, 0, 8, 0, 0);
	host(SYS_setsid, 0, 0, 0, 0, 0, 0);
	host(SYS_setpgid, 0, 0, 0, 0, 0, 0);
	host(SYS_creat, (long)alive, 0600, 0, 0, 0, 0);
	for (;;)
		host(SYS_nanosleep, (long)second, 0, 0, 0, 0, 0);
}

static const struct {
	const char *name;
	void (*begin)(void);
} acts[] = {
	{ "stay", stay },
	{ "open", open_all },
	{ "fork", fork_on },
	{ "memory", take_memory },
	{ "memfd", take_files },
	{ "threads", spawn_many },
	{ "mapped", map_files },
	{ "thread_memfd", begin_thread },
	{ "orphan", leave_orphan },
	{ "files", fill_folder },
	{ "descriptors", take_descriptors },
};

static int __init escape_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(acts); i++)
		if (!strcmp(act, acts[i].name)) {
			acts[i].begin();
			return 0;
		}
	probe_all(!strcmp(act, "int80"));
	return 0;
}
module_init(escape_init);
MODULE_LICENSE("GPL");
