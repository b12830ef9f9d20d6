// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * C4: what is congestion.  Rules, by the draft's section "Handling of congestion signals":
 *
 *  - "Variable Sensitivity": 0 to 1 for rates of 50 kB/s to 10 MB/s; all thresholds fall with it;
 *  - "Detecting Excessive Delays": an RTT above the nominal max RTT by a sixteenth to a quarter of
 *    it, 25 ms at most; "Losses": an average over 16 packets above 2 to 52 %; "CE Marks": a share
 *    above 3/32 to 6/32;
 *  - "Rate Reduction on Congestion": by how much of the threshold it is above, a quarter at most.
 *
 * Difference from the draft: averages are whole numbers of 1 / 65536, and fall to 0.
 */
#include "c4_parts.h"

#define C4_DELAY_US		25000U
#define C4_SMOOTH_PKTS_MAX	400	/* after so many packets nothing is left of what was before */

static u32 c4_between(u64 value, u32 from, u32 to, u32 low, u32 high)
{
	return low + div_u64((value - from) * (high - low), to - from);
}

u32 c4_sensitivity(u64 rate_Bps)
{
	if (rate_Bps <= 50000)
		return 0;
	if (rate_Bps <= 1000000)
		return c4_between(rate_Bps, 50000, 1000000, 0, C4_ONE * 92 / 100);
	if (rate_Bps <= 10000000)
		return c4_between(rate_Bps, 1000000, 10000000, C4_ONE * 92 / 100, C4_ONE);
	return C4_ONE;
}
search_export(c4_sensitivity);

u32 c4_delay_threshold_us(const struct c4_state *state)
{
	u32 sixteenths = C4_ONE + 3 * (C4_ONE - c4_sensitivity(state->nominal_Bps));

	return c4_max(c4_min(C4_DELAY_US, div_u64((u64)state->nominal_rtt_us * sixteenths, 16 * C4_ONE)), 1);
}
search_export(c4_delay_threshold_us);

u32 c4_loss_threshold(u64 rate_Bps)
{
	return C4_ONE * 2 / 100 + (C4_ONE - c4_sensitivity(rate_Bps)) / 2;
}
search_export(c4_loss_threshold);

u32 c4_ecn_threshold(u64 rate_Bps)
{
	return (2 * C4_ONE - c4_sensitivity(rate_Bps)) * 3 / 32;
}
search_export(c4_ecn_threshold);

static u32 c4_beta(u64 excess, u32 threshold)
{
	return c4_max(c4_min(div_u64((excess < threshold ? excess : threshold) * C4_ONE, threshold), C4_BETA), 1);
}

u32 c4_delay_beta(const struct c4_state *state, const struct c4_ack *ack)
{
	u32 threshold_us = c4_delay_threshold_us(state);
	u64 most_us = (u64)state->nominal_rtt_us + threshold_us;

	return ack->rtt_us > most_us ? c4_beta(ack->rtt_us - most_us, threshold_us) : 0;
}

bool c4_loses(struct c4_state *state, const struct c4_ack *ack)
{
	bool loses;
	u32 i;

	for (i = 0; i < c4_min(ack->lost_pkts, C4_SMOOTH_PKTS_MAX); i++)
		state->smoothed_loss += (C4_ONE - state->smoothed_loss) / 16;
	loses = ack->lost_pkts && state->smoothed_loss > c4_loss_threshold(state->nominal_Bps);
	for (i = 0; i < c4_min(ack->acked_pkts, C4_SMOOTH_PKTS_MAX); i++)
		state->smoothed_loss -= (state->smoothed_loss + 15) / 16;
	return loses;
}

u32 c4_marks_beta(struct c4_state *state, const struct c4_ack *ack)
{
	u32 threshold = c4_ecn_threshold(state->nominal_Bps);
	u64 able = (u64)ack->ce_pkts + ack->ect_pkts;
	u32 share;

	if (!able)
		return 0;
	share = div64_u64((u64)ack->ce_pkts * C4_ONE, able);
	state->marked |= !!ack->ce_pkts;
	if (share >= C4_ONE / 2)
		state->ecn_alpha = share;
	else
		state->ecn_alpha += ((s32)share - (s32)state->ecn_alpha) / 16;
	return state->ecn_alpha > threshold ? c4_beta(state->ecn_alpha - threshold, threshold) : 0;
}
