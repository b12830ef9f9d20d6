// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into the virtual world's iperf3 client and dumpcap: user space wakes
 * up less often, and the kernel under test does the same.
 *
 * A wake-up costs a dozen microseconds of ptrace under User Mode Linux, and
 * nothing in virtual time.  Unbatched, they are three quarters of a trial:
 *
 *  - iperf3 reads every segment as it comes.  SO_RCVLOWAT lets it sleep until a
 *    block of its own size is there.  Only the data connections are given a
 *    congestion control, so that its control connection stays as it is.
 *  - dumpcap asks libpcap for one packet at a time, with a select() and a
 *    gettimeofday() around each.  -1 asks for all that the ring holds.
 *  - iperf3's client no longer runs its timers once it has said that a download
 *    of a size (-n) is over, and polls without a pause until the server answers.
 *    Polling takes no virtual time: it would never end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/select.h>
#include <sys/socket.h>

#define BLOCK_BYTES 131072 /* iperf3's default block, and lab/node/flow.py's */

#define PAUSE_US 1000 /* of what polls without one */

struct pcap;

int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	static int (*next)(int, int, int, const void *, socklen_t);
	const int low_water = BLOCK_BYTES;

	if (!next)
		next = dlsym(RTLD_NEXT, "setsockopt");
	if (level == IPPROTO_TCP && name == TCP_CONGESTION)
		next(fd, SOL_SOCKET, SO_RCVLOWAT, &low_water, sizeof(low_water));
	return next(fd, level, name, value, size);
}

int pcap_dispatch(struct pcap *handle, int count, void *callback, unsigned char *user)
{
	static int (*next)(struct pcap *, int, void *, unsigned char *);

	(void)count;
	if (!next)
		next = dlsym(RTLD_NEXT, "pcap_dispatch");
	return next(handle, -1, callback, user);
}

int select(int count, fd_set *reading, fd_set *writing, fd_set *failing, struct timeval *timeout)
{
	static int (*next)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
	struct timeval pause = { .tv_usec = PAUSE_US };

	if (!next)
		next = dlsym(RTLD_NEXT, "select");
	if (timeout && !timeout->tv_sec && timeout->tv_usec < PAUSE_US)
		timeout = &pause;
	return next(count, reading, writing, failing, timeout);
}
