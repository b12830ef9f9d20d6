// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "udp.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "options.h"

#define BUFFER_BYTES (16 << 20)

static void set(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		fail("socket option %d: %s", name, strerror(errno));
}

int udp_open(uint16_t port)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof(own)))
		fail("port=%u: %s", port, strerror(errno));
	set(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES);
	set(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES);
	set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO); /* no fragments (RFC 9000, section 14) */
	prctl(PR_SET_TIMERSLACK, 1);			      /* a pacer's timer fires when it is due */
	return fd;
}

static void point(struct mmsghdr *headers, struct iovec *parts, struct datagram *batch, unsigned int count)
{
	memset(headers, 0, count * sizeof(*headers));
	for (unsigned int at = 0; at < count; at++) {
		parts[at].iov_base = batch[at].data;
		headers[at].msg_hdr.msg_iov = &parts[at];
		headers[at].msg_hdr.msg_iovlen = 1;
		headers[at].msg_hdr.msg_namelen = sizeof(batch[at].from);
	}
}

unsigned int udp_receive(int fd, struct datagram batch[UDP_BATCH])
{
	struct mmsghdr headers[UDP_BATCH];
	struct iovec parts[UDP_BATCH];
	int got;

	point(headers, parts, batch, UDP_BATCH);
	for (unsigned int at = 0; at < UDP_BATCH; at++) {
		parts[at].iov_len = UDP_ROOM_BYTES;
		headers[at].msg_hdr.msg_name = &batch[at].from;
	}
	got = recvmmsg(fd, headers, UDP_BATCH, MSG_DONTWAIT, NULL);
	if (got < 0) {
		/* A refused connection is what ICMP reports: the handshake's own timer decides. */
		if (errno != EAGAIN && errno != EINTR && errno != ECONNREFUSED)
			fail("receiving: %s", strerror(errno));
		return 0;
	}
	for (int at = 0; at < got; at++)
		batch[at].bytes = headers[at].msg_len;
	return got;
}

void udp_send(int fd, const struct sockaddr_in *to, struct datagram *batch, unsigned int count)
{
	struct mmsghdr headers[UDP_BATCH];
	struct iovec parts[UDP_BATCH];
	unsigned int done = 0;

	point(headers, parts, batch, count);
	for (unsigned int at = 0; at < count; at++) {
		parts[at].iov_len = batch[at].bytes;
		headers[at].msg_hdr.msg_name = (void *)to;
	}
	while (done < count) {
		int sent = sendmmsg(fd, headers + done, count - done, 0);

		if (sent > 0)
			done += sent;
		else if (errno != EINTR && errno != ECONNREFUSED)
			fail("sending: %s", strerror(errno));
	}
}

void udp_wait(int fd, uint64_t most_ns)
{
	struct timespec most = { most_ns / 1000000000, most_ns % 1000000000 };
	struct pollfd watched = { .fd = fd, .events = POLLIN };

	ppoll(&watched, 1, most_ns == UINT64_MAX ? NULL : &most, NULL);
}
