/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sender's log has for the tables: each ACK frame, packets declared lost, and the end of the first slow start.
 *
 * ngtcp2 lets nobody replace or watch its congestion control.  It shows the window, its threshold and the bytes in
 * flight, and each packet that it sends or declares lost as an event of qlog.  What is neither in flight nor lost was
 * delivered.
 */
#pragma once

#include "peer.h"

struct sizes {
	uint16_t *of; /* by packet number */
	size_t room;
};

struct watch {
	struct sizes spaces[3]; /* Initial, Handshake, 1-RTT */
	ngtcp2_conn_info before;
	uint64_t sent_bytes, delivered_bytes, lost_bytes, lost_pkts, noted_pkts;
	bool drained; /* BBR has left STARTUP */
	bool left;    /* the first slow start */
};

/* Take an event of qlog in: a packet that was sent, or declared lost. */
void watch_event(struct watch *watch, const char *line);

/* Take a message of ngtcp2's log in, which alone shows BBR's state. */
void watch_message(struct watch *watch, const char *message);

/* Stand around all that changes the connection: a datagram taken in, a timer served, a burst sent. */
void watch_begin(struct watch *watch, struct peer *peer);
void watch_end(struct watch *watch, struct peer *peer);
