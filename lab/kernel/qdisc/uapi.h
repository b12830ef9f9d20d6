/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings of the lab's qdiscs, attributes inside TCA_OPTIONS, and what the qdiscs
 * report: settings and statistics in one struct, as the qdisc's own statistics
 * (TCA_STATS_APP) and not as options, because tc prints options that it does not know in the
 * middle of its JSON.  lab/node/qdiscs/ has the same numbers.
 *
 * Times in ns are on CLOCK_MONOTONIC; all ones: UNSET, there is no value yet.
 */
#ifndef LAB_QDISC_UAPI_H
#define LAB_QDISC_UAPI_H

#include <linux/types.h>

/* A series, which arrives in chunks while the qdisc that follows it runs; the same for each kind. */
enum {
	TCA_SERIES_UNSPEC,
	TCA_SERIES_PAD,
	TCA_SERIES_START_NS,		/* u64, absolute, once: t = 0 of the series */
	TCA_SERIES_STEPS,		/* array of struct series_step, in order */
	TCA_SERIES_END_NS,		/* u64, since the start, once: end of the last step */
	__TCA_SERIES_MAX
};

struct series_step {
	__u64 t_ns;	/* since the start */
	union {
		__u64 value;	/* replay: bit/s from then on, or bytes that may pass at that instant */
		struct {	/* delay_line: from then on */
			__u32 delay_us;
			__u32 loss;	/* of 2^32 packets */
		};
	};
};

struct series_state {
	__u64 start_ns;
	__u64 end_ns;
	__u64 consumed_steps;
	__u64 past_end_ns;	/* since the end of the series */
	__u32 held_steps;
	__u32 room_steps;
	__u32 underruns;	/* the last step held was consumed before an end was set */
	__u32 pad;
};

/* replay: set when it is made; then its series. */
enum {
	TCA_REPLAY_MODE = __TCA_SERIES_MAX,	/* u32, enum replay_mode */
	TCA_REPLAY_LIMIT_BYTES,		/* u32: of the child that it brings along */
	TCA_REPLAY_OVERHEAD_BYTES,	/* s32: added to every frame's length */
	TCA_REPLAY_START_BPS,		/* u64: the rate before the series begins */
	__TCA_REPLAY_MAX
};

#define TCA_REPLAY_MAX (__TCA_REPLAY_MAX - 1)

enum replay_mode {
	REPLAY_RATE,
	REPLAY_OPPORTUNITIES,
};

struct replay_state {
	__u32 mode;
	__u32 limit_bytes;
	__s32 overhead_bytes;
	__u32 pad;
	__u64 start_bps;
	__u64 capacity_bytes;	/* what could have passed since the start */
	__u64 rate_bps;		/* in force now */
	struct series_state series;
};

/* delay_line: set when it is made; then its series. */
enum {
	TCA_DELAY_LINE_LIMIT_PKTS = __TCA_SERIES_MAX,	/* u32 */
	TCA_DELAY_LINE_DELAY_US,	/* u32: before the series begins */
	TCA_DELAY_LINE_LOSS,		/* u32, of 2^32: before the series begins */
	TCA_DELAY_LINE_FRAME_US,	/* u32; 0: each packet leaves by itself */
	TCA_DELAY_LINE_FRAME_PKTS,	/* u32: that a frame takes at most; 0: all */
	TCA_DELAY_LINE_LATE_US,		/* u32: a departure so much after its time is counted */
	TCA_DELAY_LINE_SEED,		/* u64 */
	__TCA_DELAY_LINE_MAX
};

#define TCA_DELAY_LINE_MAX (__TCA_DELAY_LINE_MAX - 1)

struct delay_line_state {
	__u32 limit_pkts;
	__u32 delay_us;
	__u32 loss;
	__u32 frame_us;
	__u32 frame_pkts;
	__u32 late_us;
	__u64 seed;
	__u64 loss_sum;		/* of 2^32 packets: what of those that came was to be lost */
	__u64 lost_pkts;	/* of them, lost */
	__u64 overflow_pkts;	/* dropped because the line was full */
	__u64 sent_pkts;
	__u64 late_pkts;	/* of those, sent more than late_us after their time */
	__u64 latest_ns;	/* the largest lateness */
	struct series_state series;
};

/* on_demand: all of it set when it is made. */
enum {
	TCA_ON_DEMAND_UNSPEC,
	TCA_ON_DEMAND_PAD,
	TCA_ON_DEMAND_FRAME_US,			/* u32 */
	TCA_ON_DEMAND_PHASE_US,			/* u32: when the first frame begins, since the origin */
	TCA_ON_DEMAND_GUARANTEED_PKTS,		/* u32 */
	TCA_ON_DEMAND_REQUEST_DELAY_US,		/* u32 */
	TCA_ON_DEMAND_CAP_BYTES,		/* u32: of grants, in each frame */
	TCA_ON_DEMAND_REPORT,			/* u32, enum on_demand_report */
	TCA_ON_DEMAND_LIMIT_BYTES,		/* u32 */
	TCA_ON_DEMAND_PERIOD_US,		/* u32: between reports of a rate; 0 for the others */
	TCA_ON_DEMAND_ORIGIN_NS,		/* u64: of the frame clock, in the past; 0 without it */
	__TCA_ON_DEMAND_MAX
};

#define TCA_ON_DEMAND_MAX (__TCA_ON_DEMAND_MAX - 1)

enum on_demand_report {
	ON_DEMAND_BACKLOG,
	ON_DEMAND_NEW,
	ON_DEMAND_RATE,
};

struct on_demand_state {
	__u32 frame_us;
	__u32 phase_us;
	__u32 guaranteed_pkts;
	__u32 request_delay_us;
	__u32 cap_bytes;
	__u32 report;
	__u32 limit_bytes;
	__u32 period_us;
	__u64 frames;
	__u64 requested_bytes;
	__u64 granted_bytes;
	__u64 lapsed_bytes;
	__u64 guaranteed_sent_pkts;
};

/* step_drop: all of it set when it is made. */
enum {
	TCA_STEP_DROP_UNSPEC,
	TCA_STEP_DROP_PAD,
	TCA_STEP_DROP_LIMIT_BYTES,	/* u32 */
	TCA_STEP_DROP_THRESHOLD_BYTES,	/* u32 */
	TCA_STEP_DROP_SHARE_PPM,	/* u32 */
	TCA_STEP_DROP_SEED,		/* u64 */
	__TCA_STEP_DROP_MAX
};

#define TCA_STEP_DROP_MAX (__TCA_STEP_DROP_MAX - 1)

struct step_drop_state {
	__u32 limit_bytes;
	__u32 threshold_bytes;
	__u32 share_ppm;
	__u32 pad;
	__u64 seed;
	__u64 exposed_pkts;	/* arrived while more than the threshold was queued */
	__u64 chosen_pkts;	/* of those, dropped at random */
	__u64 overflow_pkts;	/* dropped because the queue was full */
};

/* policer: all of it set when it is made. */
enum {
	TCA_POLICER_UNSPEC,
	TCA_POLICER_PAD,
	TCA_POLICER_LIMIT_BYTES,	/* u32 */
	TCA_POLICER_BURST_BYTES,	/* u32 */
	TCA_POLICER_RATE_BPS,		/* u64 */
	__TCA_POLICER_MAX
};

#define TCA_POLICER_MAX (__TCA_POLICER_MAX - 1)
#define POLICER_MOST_BURST_BYTES 1000000000U

struct policer_state {
	__u32 limit_bytes;
	__u32 burst_bytes;
	__u64 rate_bps;
	__u64 policed_pkts;	/* dropped because tokens were too few */
	__u64 overflow_pkts;	/* dropped because the queue was full */
};

/* disturb: all of it set when it is made. */
enum {
	TCA_DISTURB_UNSPEC,
	TCA_DISTURB_PAD,
	TCA_DISTURB_LIMIT_BYTES,	/* u32 */
	TCA_DISTURB_HOLD_EVERY_PKTS,	/* u32; 0: none is held */
	TCA_DISTURB_HOLD_PKTS,		/* u32: that overtake a held one */
	TCA_DISTURB_COPY_EVERY_PKTS,	/* u32; 0: none is copied */
	__TCA_DISTURB_MAX
};

#define TCA_DISTURB_MAX (__TCA_DISTURB_MAX - 1)

struct disturb_state {
	__u32 limit_bytes;
	__u32 hold_every_pkts;
	__u32 hold_pkts;
	__u32 copy_every_pkts;
	__u64 arrived_pkts;
	__u64 held_pkts;
	__u64 copied_pkts;
	__u64 overflow_pkts;	/* dropped because the queue was full */
};

/* bursts: all of it set when it is made. */
enum {
	TCA_BURSTS_UNSPEC,
	TCA_BURSTS_PAD,
	TCA_BURSTS_LIMIT_BYTES,	/* u32 */
	TCA_BURSTS_BEGIN_PPM,	/* u32: the chance at each arrival that a burst begins, */
	TCA_BURSTS_END_PPM,	/* u32: that it ends, */
	TCA_BURSTS_LOSS_PPM,	/* u32: and that a packet in it is lost */
	TCA_BURSTS_SEED,	/* u64 */
	__TCA_BURSTS_MAX
};

#define TCA_BURSTS_MAX (__TCA_BURSTS_MAX - 1)

struct bursts_state {
	__u32 limit_bytes;
	__u32 begin_ppm;
	__u32 end_ppm;
	__u32 loss_ppm;
	__u64 seed;
	__u64 bursts;
	__u64 bad_pkts;		/* arrived in a burst */
	__u64 lost_pkts;
	__u64 overflow_pkts;	/* dropped because the queue was full */
};

#endif /* LAB_QDISC_UAPI_H */
