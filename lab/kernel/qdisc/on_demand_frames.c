// SPDX-License-Identifier: GPL-2.0-or-later
/* "on_demand": what happens in a frame, its grant, its packets and its report. */
#include "on_demand.h"

static u64 on_demand_frame_ns(const struct on_demand *q)
{
	return (u64)q->state.frame_us * NSEC_PER_USEC;
}

/* A frame's share of a rate.  Rests add up, so that a period carries the rate to the byte. */
static u64 on_demand_share(struct on_demand *q, u64 rate_bytes)
{
	u64 share;

	q->share_rest += rate_bytes;
	share = div64_u64(q->share_rest, q->period_frames);
	q->share_rest -= share * q->period_frames;
	return share;
}

/* The grant for this frame; its request is no longer on the way. */
static u32 on_demand_grant(struct on_demand *q)
{
	u64 due_bytes = q->request_bytes[q->oldest];
	u32 granted_bytes;

	q->pending_bytes -= due_bytes;
	switch (q->state.report) {
	case ON_DEMAND_NEW:
		q->owed_bytes += due_bytes;
		granted_bytes = min_t(u64, q->owed_bytes, q->state.cap_bytes);
		q->owed_bytes -= granted_bytes;
		break;
	case ON_DEMAND_RATE:
		due_bytes = on_demand_share(q, due_bytes);
		fallthrough;
	default:
		granted_bytes = min_t(u64, due_bytes, q->state.cap_bytes);
	}
	q->state.granted_bytes += granted_bytes;
	return granted_bytes;
}

static u64 on_demand_new_bytes(const struct on_demand *q)
{
	u64 known_bytes = q->pending_bytes + q->owed_bytes;

	return q->waiting_bytes > known_bytes ? q->waiting_bytes - known_bytes : 0;
}

/* The rate of the last report, and a new one at the end of a period. */
static u64 on_demand_rate(struct on_demand *q)
{
	if (++q->period_at < q->period_frames)
		return q->rate_bytes;

	q->period_at = 0;
	q->rate_bytes = q->arrived_bytes + q->waiting_bytes;
	q->arrived_bytes = 0;
	q->state.requested_bytes += q->rate_bytes;
	return q->rate_bytes;
}

/* Report the demand, in place of the request that was granted. */
static void on_demand_request(struct on_demand *q)
{
	u64 bytes;

	if (q->state.report == ON_DEMAND_RATE) {
		bytes = on_demand_rate(q);
	} else {
		bytes = q->state.report == ON_DEMAND_NEW ? on_demand_new_bytes(q) : q->waiting_bytes;
		q->state.requested_bytes += bytes;
	}
	q->request_bytes[q->oldest] = bytes;
	q->oldest = (q->oldest + 1) % q->request_frames;
	q->pending_bytes += bytes;
}

static u32 on_demand_first_bytes(const struct on_demand *q)
{
	return qdisc_pkt_len(q->waiting.head) - q->sent_of_first_bytes;
}

static void on_demand_leave(struct on_demand *q)
{
	q->waiting_bytes -= on_demand_first_bytes(q);
	q->sent_of_first_bytes = 0;
	__qdisc_enqueue_tail(__qdisc_dequeue_head(&q->waiting), &q->leaving);
}

void on_demand_frame(struct on_demand *q)
{
	u32 bytes = on_demand_grant(q);
	u32 pkts;

	for (pkts = q->state.guaranteed_pkts; pkts && q->waiting.qlen; pkts--) {
		on_demand_leave(q);
		q->state.guaranteed_sent_pkts++;
	}
	while (q->waiting.qlen && bytes >= on_demand_first_bytes(q)) {
		bytes -= on_demand_first_bytes(q);
		on_demand_leave(q);
	}
	if (q->waiting.qlen) {
		q->sent_of_first_bytes += bytes;
		q->waiting_bytes -= bytes;
	} else {
		q->state.lapsed_bytes += bytes;
	}
	on_demand_request(q);
	q->state.frames++;
	q->next_ns += on_demand_frame_ns(q);
}

/* Whether a frame at a link with nothing to send still changes something. */
static bool on_demand_unsettled(const struct on_demand *q)
{
	return q->pending_bytes || q->owed_bytes || q->arrived_bytes || q->rate_bytes;
}

/* Grants lapse first; then nothing happens in the frames that remain. */
void on_demand_pass(struct on_demand *q, u64 now_ns)
{
	u64 frames;

	while (q->next_ns <= now_ns && on_demand_unsettled(q))
		on_demand_frame(q);
	if (q->next_ns > now_ns)
		return;
	frames = div64_u64(now_ns - q->next_ns, on_demand_frame_ns(q)) + 1;
	q->state.frames += frames;
	q->next_ns += frames * on_demand_frame_ns(q);
	if (q->period_frames) {
		div64_u64_rem(q->period_at + frames, q->period_frames, &frames);
		q->period_at = frames;
	}
}
