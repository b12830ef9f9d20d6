/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one form in which quinn's controller loads a core: a table of functions over the same ACK and
 * the same change.  A core is the C file of a kernel module (lab/kernel/search, lab/kernel/startup);
 * its file here does what the module does between core and socket.
 *
 * Bytes stand for sequence numbers.  Packets that are acknowledged or declared lost are out of
 * flight for good, so what is sent less what is in flight is what TCP's snd_una is.
 */
#ifndef QUIC_CORE_H
#define QUIC_CORE_H

#include "search_core.h"

#define QUIC_MOST_PARAMS	32

/* What the controller knows.  As struct Event of core.rs has it. */
struct quic_event {
	u64 now_us;
	u64 delivered_bytes;	/* acknowledged since the connection began, this ACK included */
	u64 sent_bytes;		/* since then, too */
	u64 acked_bytes;	/* newly, by this ACK ... */
	u64 acked_before_bytes;	/* ... of what was sent before the newest recovery period began */
	u64 lost_bytes;		/* newly declared lost */
	u64 flight_bytes;	/* after that */
	u64 window_bytes;
	u64 ssthresh_bytes;	/* QUIC_NO_THRESHOLD: none yet */
	u32 packet_bytes;	/* of a full datagram */
	u32 rtt_us;		/* of the newest packet that is acknowledged */
	u32 limited;		/* nonzero: the application limits the sender */
	u32 in_recovery;	/* nonzero: that packet was sent before the recovery period began */
	u64 before_bytes;	/* of a loss: the window before CUBIC's reaction, which has the window above */
	/* For a core that is alone; 0 for others.  As the newest packet was sent that is acknowledged or lost: */
	u64 then_delivered_bytes;
	u64 then_lost_bytes;
	u64 then_flight_bytes;	/* with it */
	u32 then_limited;
	u32 interval_us;	/* of the delivery rate's sample; 0: none, or not a reliable one */
	u32 srtt_us;
	u32 window_full;	/* nonzero: since the last ACK there was no room for a packet more */
};

#define QUIC_NO_THRESHOLD	((u64)~0)

/* What changes; 0: as it is.  As struct Change of core.rs has it. */
struct quic_change {
	struct search_decision bin;	/* SEARCH_BIN_OPEN: no bin ended */
	u64 window_bytes;
	u64 ssthresh_bytes;
	u64 w_max_bytes;	/* CUBIC begins an epoch towards this window */
	u64 pacing_bytes_per_s;	/* instead of quinn's own rate */
	u32 own;		/* nonzero: CUBIC does not take this ACK in */
	u32 exit;		/* nonzero: the core's rule ends slow start */
	u32 recovery;		/* nonzero: a recovery period begins, without a loss */
	u32 reserved;
};

/* A number that users may set: its place among the core's parameters, all of which are u32. */
struct quic_param {
	const char *name;
	u32 place;
	u32 min;
	u32 max;
};

#define QUIC_PARAM(type, prefix, name, NAME) \
	{ #name, offsetof(type, name) / sizeof(u32), prefix##_##NAME##_MIN, prefix##_##NAME##_MAX }

struct quic_core {
	const char *name;	/* of the sender's algorithm; NULL: that of a version of SEARCH */
	const char *cause;	/* by which its rule ends slow start */
	const struct quic_param *params;
	u32 params_count;
	u32 iw_place;		/* the parameter that is the initial window; QUIC_MOST_PARAMS: none is */
	u32 alone;		/* nonzero: CUBIC takes no part, and its window is the core's */
	const u32 *initial;	/* the parameters' values; NULL: the version has them */
	size_t (*state_bytes)(const u32 *params);
	void (*begin)(void *state, const u32 *params);	/* in memory of zeros */
	void (*on_ack)(void *state, const struct quic_event *event, struct quic_change *change);
	void (*on_loss)(void *state, const struct quic_event *event, struct quic_change *change);
	/* Persistent congestion */
	void (*on_timeout)(void *state, const struct quic_event *event, struct quic_change *change);
	/* An application that was the limit sends again, with nothing in flight; NULL: as ever */
	void (*on_restart)(void *state, const struct quic_event *event, struct quic_change *change);
};

extern const struct quic_core quic_search;
extern const struct quic_core quic_hystartpp;
extern const struct quic_core quic_rapid_start;
extern const struct quic_core quic_careful_resume;
extern const struct quic_core quic_bbr3;

/* The core of this name, with its parameters' values; NULL: there is none. */
const struct quic_core *quic_core_named(const char *name, u32 *params);

static inline u32 quic_pkts(const struct quic_event *event, u64 bytes)
{
	return bytes / event->packet_bytes;
}

/* Of an ACK: a packet that is not full counts, too. */
static inline u32 quic_acked_pkts(const struct quic_event *event, u64 bytes)
{
	return (bytes + event->packet_bytes - 1) / event->packet_bytes;
}

#endif /* QUIC_CORE_H */
