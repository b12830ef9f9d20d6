/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A UDP socket that takes and gives many datagrams a call: each call into the virtual kernel costs wall time. */
#pragma once

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#define UDP_BATCH 32
#define UDP_ROOM_BYTES 2048

struct datagram {
	struct sockaddr_in from;
	size_t bytes;
	uint8_t data[UDP_ROOM_BYTES];
};

/* Open a socket on a port, 0 for any; fails where that is not possible. */
int udp_open(uint16_t port);

/* Take in what has arrived, without waiting; returns how many, UDP_BATCH where there may be more. */
unsigned int udp_receive(int fd, struct datagram batch[UDP_BATCH]);

/* Send datagrams in their order; waits where the socket's buffer is full. */
void udp_send(int fd, const struct sockaddr_in *to, struct datagram *batch, unsigned int count);

/* Wait until a datagram is there, at most so long; UINT64_MAX: without end. A signal ends the wait. */
void udp_wait(int fd, uint64_t most_ns);
